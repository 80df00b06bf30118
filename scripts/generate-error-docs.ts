/** Writes docs/reference/errors.md from the two error tables; with `--check` says whether the page is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_ERRORS, COLLECTION_ERRORS } from '../packages/server/src/http/errors.ts';

const PAGE = join(import.meta.dirname, '../docs/reference/errors.md');

function table(errors: Record<string, { status: number; message: string }>): string {
  const rows = Object.entries(errors).sort(([a, x], [b, y]) => x.status - y.status || a.localeCompare(b));
  return [
    '| status | code | usual message |',
    '|---|---|---|',
    ...rows.map(([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`),
  ].join('\n');
}

const page = `<!-- Written by scripts/generate-error-docs.ts from packages/server/src/http/errors.ts. -->
# Errors

## Management API

\`{"error": {"code", "message", "details": [{"field", "message"}]}}\`. \`details\` lists up to 20 faults of a request, each with its
path; a message may say more than the usual text below. Every answer carries \`X-Request-Id\`; 429, 503 and a locked
account carry \`Retry-After\`.

${table(API_ERRORS)}

## Collection endpoints

\`{"error": "<code>", "message"}\`. Retry 429 and 5xx, after \`Retry-After\` where it is given; every other 4xx is permanent for
that event.

${table(COLLECTION_ERRORS)}
`;

if (!process.argv.includes('--check')) writeFileSync(PAGE, page);
else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error('docs/reference/errors.md is stale: run node scripts/generate-error-docs.ts');
  process.exit(1);
}
