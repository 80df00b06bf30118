import { REASON_SENTENCES } from '../../packages/core/src/outcome/explain.ts';
import { API_ERRORS, COLLECTION_ERRORS } from '../../packages/server/src/http/errors.ts';
import { code, generatedFrom, type Page, table } from './page.ts';

function errorTable(errors: Record<string, { status: number; message: string }>): string {
  const rows = Object.entries(errors)
    .sort(([a, x], [b, y]) => x.status - y.status || a.localeCompare(b))
    .map(([name, { status, message }]) => [String(status), code(name), message]);
  return table(['status', 'code', 'usual message'], rows);
}

export function errorPages(): Page[] {
  const text = `${generatedFrom('packages/server/src/http/errors.ts and packages/core/src/outcome/explain.ts')}# Errors and reasons

## Management API

\`{"error": {"code", "message", "details": [{"field", "message"}]}}\`. \`details\` lists up to 20 faults of a request, each with its
path. The message may say more than the usual text below. Every response carries \`X-Request-Id\`; 429, 503 and a locked account
carry \`Retry-After\`.

${errorTable(API_ERRORS)}

## Collection endpoints

\`{"error": "<code>", "message"}\`. Retry 429 and 5xx, after \`Retry-After\` where it is given. Every other 4xx is permanent for
that event.

${errorTable(COLLECTION_ERRORS)}

## Reasons

Why an event was, or was not, delivered to an integration. \`GET /v1/admin/events/{event_id}\` shows the reason with this sentence,
and \`/v1/admin/stats\` counts dropped events by reason.

${table(
  ['reason', 'meaning'],
  Object.entries(REASON_SENTENCES).map(([reason, sentence]) => [code(reason), sentence]),
)}
`;
  return [{ file: 'docs/reference/errors.md', text }];
}
