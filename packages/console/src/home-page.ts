/** The front page of a running service: what it is, and where to go from here. */
export function homePage({ version }: { version: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Firsthand</title>
<style>
  :root { color-scheme: light dark; --ink: #16202b; --soft: #5b6b7b; --line: #dde4ea; --paper: #fff; --accent: #0b6e5f; }
  @media (prefers-color-scheme: dark) { :root { --ink: #e8eef3; --soft: #9aabba; --line: #2b3742; --paper: #11181f; --accent: #4fd1b8; } }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.6 system-ui, sans-serif; }
  main { max-width: 44rem; margin: 0 auto; padding: 12vh 1.5rem 4rem; }
  h1 { font-size: 2.6rem; letter-spacing: -0.02em; margin: 0 0 .5rem; }
  p { margin: 0 0 1.5rem; color: var(--soft); }
  ul { list-style: none; padding: 0; margin: 2.5rem 0; border-top: 1px solid var(--line); }
  li { border-bottom: 1px solid var(--line); padding: .9rem 0; display: flex; gap: 1rem; justify-content: space-between; align-items: baseline; flex-wrap: wrap; }
  a { color: var(--accent); font-weight: 600; text-decoration: none; }
  a:hover { text-decoration: underline; }
  code { font: .9em ui-monospace, monospace; color: var(--soft); }
  small { color: var(--soft); }
</style>
</head>
<body>
<main>
  <h1>Firsthand</h1>
  <p>First-party events, collected on your own domain, processed under your rules of consent and privacy, and delivered
    server to server to the vendors you choose. This is a running service.</p>
  <ul>
    <li><a href="/docs">API documentation</a> <code>GET /docs</code></li>
    <li><a href="/v1/admin/openapi.json">OpenAPI document</a> <code>GET /v1/admin/openapi.json</code></li>
    <li><a href="/readyz">Readiness</a> <code>GET /readyz</code></li>
    <li><a href="/metrics">Metrics</a> <code>GET /metrics</code></li>
  </ul>
  <small>Version ${version.replace(/[^\w.+-]/g, '')}</small>
</main>
</body>
</html>
`;
}
