import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { code, generatedFrom, type Page, table } from './page.ts';
import { type Declaration, type Member, readDeclarations } from './type-source.ts';

const SOURCE = 'packages/core/src/vendor/definition.ts';
/** The rest of the format. `definition.ts` re-exports it. */
const AUTH = 'packages/core/src/vendor/auth-definition.ts';
/** In reading order. The other types follow alphabetically. */
const FIRST = [
  'VendorDefinition',
  'ConfigField',
  'RequestDefinition',
  'AuthDefinition',
  'BodyDefinition',
  'ListBody',
  'AnswerRule',
  'PartialRule',
];

function fields(members: readonly Member[]): string {
  const rows = members.map(({ name, optional, type, doc }) => [code(name), optional ? '' : 'yes', code(type), doc]);
  return table(['field', 'required', 'type', 'meaning'], rows);
}

function section(declaration: Declaration): string {
  const { name, doc } = declaration;
  const head = `## ${name}\n\n${doc === '' ? '' : `${doc}\n\n`}`;
  if (declaration.kind === 'interface') return `${head}${fields(declaration.members)}\n`;
  const kinds = declaration.alternatives.filter(({ members }) => members.some((member) => member.name === 'kind'));
  if (kinds.length === 0) return `${head}${declaration.alternatives.map(({ type }) => code(type)).join(' \\| ')}\n`;
  const rows = declaration.alternatives.map(({ type, members, doc: meaning }) => {
    const kind = members.find((member) => member.name === 'kind')?.type;
    if (kind === undefined) return [code(type), '', `see [${type}](#${type.toLowerCase()})`];
    const others = members
      .filter((member) => member.name !== 'kind')
      .map((member) => code(`${member.name}${member.optional ? '?' : ''}: ${member.type}`));
    const details = members.filter((member) => member.doc !== '').map((member) => `${code(member.name)}: ${member.doc}`);
    return [code(kind.replaceAll("'", '')), others.join('<br>'), [meaning, ...details].filter((text) => text !== '').join('<br>')];
  });
  return `${head}${table(['kind', 'fields', 'meaning'], rows)}\n`;
}

export function vendorFormatPages(): Page[] {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const source = read(SOURCE);
  const intro = (/^\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, ''))
    .join('\n')
    .trim();
  const declarations = [...readDeclarations(source), ...readDeclarations(read(AUTH))].filter(
    (one) => one.kind === 'interface' || one.alternatives.some(({ members }) => members.length > 0),
  );
  const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  declarations.sort((a, b) => place(a.name) - place(b.name) || a.name.localeCompare(b.name));
  const text = `${generatedFrom(SOURCE)}# Vendor definition format

${intro}

To write a definition, follow [Add a vendor](../guides/contributing/add-a-vendor.md). Custom HTTP accepts the same \`request\` objects in
its config; see [Vendors](vendors.md).

${declarations.map(section).join('\n')}`;
  return [{ file: 'docs/reference/vendor-format.md', text }];
}
