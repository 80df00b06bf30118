import { expect, test } from 'vitest';
import { readDecision } from './decisions.ts';

const good =
  '# 0042: A title\n\n- Status: superseded by 0043\n- Date: 2026-11-16\n\n## Context\n\n## Decision\n\n### A part\n\n## Consequences\n';

test('the head of a decision is read', () => {
  expect(readDecision('0042-a-title.md', good)).toEqual({
    number: '0042',
    title: 'A title',
    status: 'superseded by 0043',
    date: '2026-11-16',
  });
});

test.each([
  ['another number in the name', '0041-a-title.md', good],
  ['no date', '0042-a.md', good.replace('- Date: 2026-11-16\n', '')],
  ['an unknown status', '0042-a.md', good.replace('superseded by 0043', 'maybe')],
  ['a missing section', '0042-a.md', good.replace('## Context\n\n', '')],
  ['a section of its own', '0042-a.md', `${good}\n## Why\n`],
])('%s is refused', (_name, file, text) => {
  expect(() => readDecision(file, text)).toThrow(`docs/decisions/${file}`);
});
