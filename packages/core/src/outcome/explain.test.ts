import { expect, test } from 'vitest';
import { explain } from './explain.ts';

test.each<[string, string | undefined, RegExp]>([
  ['consent_not_granted', undefined, /^The visitor has not granted .*\.$/],
  ['retrying', 'http_503', /\(http_503\)\.$/],
  // The event may also have waited already.
  ['integration_disabled', undefined, /disabled before the event was delivered/],
  ['missing_required:user_data.em', undefined, /requires user_data\.em/],
  ['dead_lettered', 'http_400', /dead letter: http_400\.$/],
  ['processing_failed', 'boom', /could not be processed .*: boom\.$/],
  ['something_else', undefined, /something_else\.$/],
])('%s is one sentence', (reason, detail, expected) => {
  expect(explain(reason, detail)).toMatch(expected);
});
