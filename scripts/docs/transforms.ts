import { readFileSync } from 'node:fs';
import { FUNCTIONS } from '@firsthand/core/expression/functions.ts';
import type { Transform } from '@firsthand/core/transforms/define.ts';
import { TRANSFORM_GROUPS } from '@firsthand/core/transforms/index.ts';
import { generatedFrom, type Page } from './page.ts';

const TRANSFORMATIONS_PAGE = 'docs/reference/transformations.md';

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
  const intro = `${generatedFrom('packages/core/src/transforms')}# Transforms

Each example below is also a test.

A mapping, a rule or a V1 step lists transforms in order: \`"transforms": ["trim", {"name": "truncate", "args": [100]}]\`. An argument is
a value, or \`{"source": "<path>"}\` to read it from the event.

- A missing value (or null) stays missing through every transform. A transform without a sensible result returns a missing value. The
  mapping's \`default\` and \`required\` decide what happens then. No transform fails an event.
- A list is transformed element by element, unless the transform takes a list as a whole.
- A value that the client already hashed (64 hex characters) passes \`sha256\` and all \`normalize_\` transforms unchanged.
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

/** The transforms page, and the list of functions inside the hand-written page on transformations. */
export function transformPages(): Page[] {
  const current = readFileSync(new URL(`../../${TRANSFORMATIONS_PAGE}`, import.meta.url), 'utf8');
  return [
    { file: 'docs/reference/transforms.md', text: transformsPage() },
    { file: TRANSFORMATIONS_PAGE, text: transformationsPage(current) },
  ];
}
