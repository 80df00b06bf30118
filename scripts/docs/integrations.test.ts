import { expect, test } from 'vitest';
import { integrationPages } from './integrations.ts';

const pages = new Map(integrationPages().map(({ file, text }) => [file.replace('docs/reference/integrations/', ''), text]));

// The pages of 49 vendors said that events without an entry are dropped, while their variants send them.
test.each([
  ['posthog.md', 'Events without an entry under `events` are not dropped'],
  ['google_ads.md', 'Events without a mapping: `mapping_default`.'],
  ['kafka.md', 'Events without a mapping are passed on as they are.'],
  ['webhook.md', 'Events without a mapping are passed on as they are.'],
])('%s says what an installation does with other events', (file, text) => {
  expect(pages.get(file)).toContain(text);
});
