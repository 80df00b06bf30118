import { escapeHtml } from './html.ts';

/** What a person sees whose browser was led to the API and whose request failed there. */
export function errorPage(message: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Firsthand</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto 0; padding: 0 1rem; }
</style>
</head>
<body>
<h1>This did not work</h1>
<p>${escapeHtml(message)}</p>
<p><a href="/">Back to the console</a></p>
</body>
</html>
`;
}
