/**
 * Writes docs/reference/transforms.md from the transforms' own definitions, and the list of functions in docs/reference/transformations.md. `--check` only
 * says whether both are up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { FUNCTIONS } from '@firsthand/core/expression/functions.ts';
import type { Transform } from '@firsthand/core/transforms/define.ts';
import { TRANSFORM_GROUPS } from '@firsthand/core/transforms/index.ts';

const TRANSFORMS_PAGE = new URL('../docs/reference/transforms.md', import.meta.url);
const TRANSFORMATIONS_PAGE = new URL('../docs/reference/transformations.md', import.meta.url);

function json(value: unknown): string {
  if (value === undefined) return '*missing*';
  const text = JSON.stringify(value);
  return `\`${text.length > 70 ? `${text.slice(0, 67)}…` : text}\``;
}

function transformSection(transform: Transform): string {
  const args = transform.args.map((arg) => {
    const fallback = arg.default === undefined ? 'required' : `default ${json(arg.default)}`;
    return `- \`${arg.name}\` (${arg.type}, ${arg.rest ? 'any number of times' : fallback}): ${arg.summary}`;
  });
  const rows = transform.examples.map(([input, output, ...given]) => {
    const cells = [json(input), ...(transform.args.length > 0 ? [given.map(json).join(', ')] : []), json(output)];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const heads = ['value', ...(transform.args.length > 0 ? ['arguments'] : []), 'result'];
  return [
    `### ${transform.name}`,
    '',
    `${transform.summary}${transform.takes === 'list' ? ' Takes a list as a whole.' : ''}`,
    '',
    ...(args.length > 0 ? [...args, ''] : []),
    `| ${heads.join(' | ')} |`,
    `|${heads.map(() => '---|').join('')}`,
    ...rows,
    '',
  ].join('\n');
}

function transformsPage(): string {
  const intro = `# Transforms

Written by \`scripts/generate-transform-docs.ts\` from the definitions in \`packages/core/src/transforms\`; the examples are also the tests.

A mapping, a rule or a V1 step names transforms in order: \`"transforms": ["trim", {"name": "truncate", "args": [100]}]\`. An argument is a
value, or \`{"source": "<path>"}\` to read it from the event.

- A missing value (or null) stays missing through every transform; a transform that finds no sensible result gives a missing value. The
  mapping's \`default\` and \`required\` decide what then happens. No transform fails an event.
- Of a list, each element is transformed, unless the transform takes a list as a whole.
- What a client hashed already (64 hex characters) passes \`sha256\` and all \`normalize_\` transforms unchanged.
`;
  const groups = Object.entries(TRANSFORM_GROUPS).map(
    ([group, transforms]) => `## ${group}\n\n${transforms.map(transformSection).join('\n')}`,
  );
  return `${[intro, ...groups].join('\n').trimEnd()}\n`;
}

function transformationsPage(current: string): string {
  const list = Object.values(FUNCTIONS)
    .map(({ summary }) => {
      const [call, ...rest] = summary.split(': ');
      return `- \`${call}\`${rest.length > 0 ? `: ${rest.join(': ')}` : ''}`;
    })
    .join('\n');
  return current.replace(
    /(<!-- functions -->\n)[\s\S]*?(<!-- \/functions -->)/,
    (_, start: string, end: string) => `${start}${list}\n${end}`,
  );
}

const current = readFileSync(TRANSFORMATIONS_PAGE, 'utf8');
const pages = [
  { file: TRANSFORMS_PAGE, text: transformsPage() },
  { file: TRANSFORMATIONS_PAGE, text: transformationsPage(current) },
];
for (const { file, text } of pages) {
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file.pathname.split('/').at(-1)} is out of date: run node scripts/generate-transform-docs.ts`);
    process.exitCode = 1;
  }
}
