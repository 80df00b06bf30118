/** Renders the OpenAPI document as one HTML page without scripts or external resources. */
import { fieldTable, type Schema, typeOf } from './fields.ts';
import { anchor, escapeHtml, prose } from './html.ts';
import { referenceResolver } from './references.ts';
import { STYLE } from './style.ts';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}
interface Content {
  schema?: Schema & { examples?: unknown[] };
  example?: unknown;
}
interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  'x-role'?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, Content> };
  responses?: Record<string, { description?: string; content?: Record<string, Content> }>;
}
interface Document {
  info: { title: string; version: string; description?: string };
  tags?: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
}
interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** Rendering takes about 100 ms of processor time: `pause` is asked after each endpoint whether others must run first. */
export async function docsPage(openApi: object, pause: () => Promise<void> | undefined): Promise<string> {
  const document = openApi as Document;
  const resolve = referenceResolver(openApi);
  const groups = groupByTag(document);
  const sections: string[] = [];
  for (const [tag, entries] of groups) {
    const endpoints: string[] = [];
    for (const { operation, ...entry } of entries) {
      endpoints.push(endpoint({ ...entry, operation: resolve(operation) }));
      await pause();
    }
    sections.push(`<section id="${anchor(tag)}"><h2>${escapeHtml(tag)}</h2>${endpoints.join('\n')}</section>`);
  }
  const { title, version, description } = document.info;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} API</title>
<style>${STYLE}</style>
</head>
<body>
<nav aria-label="Endpoints">
  <a class="home" href="/">${escapeHtml(title)}</a>
  ${[...groups].map(([tag, entries]) => menu(tag, entries)).join('\n')}
</nav>
<main>
  <header>
    <h1>${escapeHtml(title)} API</h1>
    ${prose(description ?? '')}
    <p class="quiet">Version ${escapeHtml(version)} · <a href="/v1/admin/openapi.json">OpenAPI 3.1 document</a></p>
  </header>
  ${sections.join('\n')}
</main>
</body>
</html>
`;
}

function groupByTag(document: Document): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? 'Other';
      groups.set(tag, [...(groups.get(tag) ?? []), { method, path, operation }]);
    }
  const order = document.tags?.map(({ name }) => name) ?? [];
  return new Map([...groups].sort(([one], [other]) => order.indexOf(one) - order.indexOf(other)));
}

const idOf = ({ method, path }: Entry) => anchor(`${method} ${path}`);

function menu(tag: string, entries: Entry[]): string {
  const links = entries
    .map(
      (entry) =>
        `<li><a href="#${idOf(entry)}"><i class="${entry.method}">${entry.method.toUpperCase()}</i> ${escapeHtml(entry.operation.summary ?? entry.path)}</a></li>`,
    )
    .join('');
  return `<details><summary>${escapeHtml(tag)}</summary><ul>${links}</ul></details>`;
}

/** The console sends it as the signed-in user; endpoints outside of the management API take other credentials. */
function tryLink({ path, operation: { operationId } }: Entry): string {
  if (operationId === undefined || !path.startsWith('/v1/admin/')) return '';
  return ` <a class="try" href="/try?operation=${encodeURIComponent(operationId)}">Try it</a>`;
}

function endpoint(entry: Entry): string {
  const { method, path, operation } = entry;
  const role = operation['x-role'];
  return `<article id="${idOf(entry)}">
  <h3>${escapeHtml(operation.summary ?? '')}</h3>
  <p class="line"><i class="${method}">${method.toUpperCase()}</i> <code>${escapeHtml(path)}</code>${role === undefined || role === 'public' ? '' : ` <span class="role">${escapeHtml(role)}</span>`}${tryLink(entry)}</p>
  ${prose(operation.description ?? '')}
  ${parameterTable(operation.parameters ?? [])}
  ${requestBody(operation)}
  ${responses(operation)}
</article>`;
}

function parameterTable(parameters: Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td><span class="type">${escapeHtml(typeOf(schema ?? {}))}</span> <small>${escapeHtml(place)}${required === true ? ' · <em>required</em>' : ''}${
        schema?.default === undefined ? '' : ` · default <code>${escapeHtml(JSON.stringify(schema.default))}</code>`
      }</small>${description === undefined ? '' : prose(description)}</td></tr>`,
  );
  return `<h4>Parameters</h4><table class="fields"><tbody>${rows.join('')}</tbody></table>`;
}

function requestBody(operation: Operation): string {
  const content = Object.values(operation.requestBody?.content ?? {})[0];
  if (content?.schema === undefined) return '';
  const example = content.example ?? content.schema.examples?.[0];
  return `<h4>Body</h4>${fieldTable(content.schema)}${example === undefined ? '' : `<pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>`}`;
}

function responses(operation: Operation): string {
  const all = Object.entries(operation.responses ?? {});
  const good = all.filter(([status]) => status < '400');
  const bad = all.filter(([status]) => status >= '400');
  const shown = good.map(([status, { description, content }]) => {
    const schema = Object.values(content ?? {})[0]?.schema;
    return `<details><summary><b class="ok">${status}</b> ${escapeHtml(description ?? '')}</summary>${schema === undefined ? '' : fieldTable(schema)}</details>`;
  });
  const refused = bad
    .map(([status, { description }]) => `<tr><td><b class="no">${status}</b></td><td>${prose(description ?? '')}</td></tr>`)
    .join('');
  return `<h4>Answers</h4>${shown.join('')}${refused === '' ? '' : `<details><summary>Errors</summary><table class="fields"><tbody>${refused}</tbody></table></details>`}`;
}
