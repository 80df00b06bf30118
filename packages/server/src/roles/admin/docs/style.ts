/** The colours are the console's. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #16211d; --soft: #5a6761; --line: #e3e7e5; --paper: #fff; --side: #f7f8f7; --accent: #0b7a5f;
  --get: #2459a9; --post: #0b7a5f; --put: #8f5106; --delete: #b42318; --code: #eef1ef; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ece9; --soft: #a3b0aa; --line: #2c3732; --paper: #0d1310; --side: #151d19;
  --accent: #4fc3a1; --get: #8fb6f2; --post: #4fc3a1; --put: #e9b45c; --delete: #ff8a7f; --code: #18201c; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; background: var(--side); border-right: 1px solid var(--line); padding: 1.25rem 1rem; font-size: 13.5px; }
nav .home { display: block; font-weight: 700; font-size: 1.15rem; color: var(--ink); margin-bottom: 1rem; }
nav summary { cursor: pointer; padding: .3rem 0; font-weight: 600; }
nav ul { list-style: none; margin: .1rem 0 .6rem; padding: 0; }
nav li a { display: flex; gap: .5rem; align-items: baseline; padding: .2rem .35rem; border-radius: 4px; color: var(--soft); }
nav li a:hover { background: var(--code); color: var(--ink); text-decoration: none; }
main { padding: 2rem min(5vw, 4rem) 6rem; max-width: 62rem; }
h1 { font-size: 2rem; letter-spacing: -.02em; margin: 0 0 .5rem; }
h2 { font-size: 1.4rem; margin: 3.5rem 0 .5rem; padding-bottom: .4rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1.08rem; margin: 0 0 .25rem; }
h4 { font-size: .78rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 1.1rem 0 .35rem; }
article { padding: 1.6rem 0; border-bottom: 1px solid var(--line); }
p { margin: .35rem 0; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre { font: .92em/1.5 ui-monospace, SFMono-Regular, Menlo, monospace; }
code { background: var(--code); border-radius: 3px; padding: .05em .3em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; margin: .6rem 0; }
.line { font-size: 1rem; } .line code { background: none; padding: 0; }
i.get, i.post, i.put, i.delete, i.patch { font: 700 .74em/1 ui-monospace, monospace; font-style: normal; min-width: 3.6em; display: inline-block; }
i.get { color: var(--get); } i.post { color: var(--post); } i.put, i.patch { color: var(--put); } i.delete { color: var(--delete); }
.role { font-size: .78em; border: 1px solid var(--line); border-radius: 999px; padding: .1em .6em; color: var(--soft); margin-left: .4rem; }
a.try { font-size: .85em; margin-left: .6rem; }
.quiet, .type, small { color: var(--soft); } small em { color: var(--delete); font-style: normal; }
table.fields { border-collapse: collapse; width: 100%; }
table.fields td { border-top: 1px solid var(--line); padding: .35rem .6rem .35rem 0; vertical-align: top; }
table.fields td:first-child { width: 34%; } table.fields p { margin: .1rem 0; }
details summary { cursor: pointer; padding: .15rem 0; }
b.ok { color: var(--post); } b.no { color: var(--delete); }
@media (max-width: 56rem) { body { display: block; } nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); } main { padding: 1.5rem 1rem 4rem; } }
@media (max-width: 40rem) { table.fields :is(tbody, tr, td) { display: block; width: auto; } table.fields td:first-child { width: auto; padding-bottom: 0; } table.fields td + td { border-top: 0; padding-top: 0; } }
`;
