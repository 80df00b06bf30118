import { expect, test } from 'vitest';
import { brokenLinks } from './markdown-links.ts';

const pages: Record<string, string> = {
  'README.md': [
    '[good](docs/a.md) [folder](docs/) [web](https://example.org/x) [own](#the-title)',
    '# The title',
    '[gone](docs/b.md) [no heading](docs/a.md#nowhere)',
    '`[code](not/a/link.md)`',
    '```',
    '[fenced](not/a/link.md)',
    '```',
  ].join('\n'),
  'docs/a.md': '# A `thing`, twice\n# A `thing`, twice\n[up](../README.md#the-title) [second](#a-thing-twice-1) [out](../../x.md)',
};

test('links to missing files and headings are found, with their line', () => {
  expect(brokenLinks(Object.keys(pages), (file) => pages[file] ?? '')).toEqual([
    { file: 'README.md', line: 3, link: 'docs/b.md', reason: 'no such file' },
    { file: 'README.md', line: 3, link: 'docs/a.md#nowhere', reason: 'no such heading' },
    { file: 'docs/a.md', line: 3, link: '../../x.md', reason: 'no such file' },
  ]);
});
