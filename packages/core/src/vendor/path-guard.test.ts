import { expect, test } from 'vitest';
import { pathGuard } from './path-guard.ts';
import { compileText } from './text.ts';

const INCOMPLETE = /^url_incomplete: /;
const UNSAFE = /^url_unsafe: /;
const sources = (id: unknown) => ({ event: { id }, payload: {}, lane: {} });

test.each<[url: string, id: unknown, RegExp | undefined]>([
  ['https://a.example/people/{{event.id}}', 'u1', undefined],
  ['https://a.example/people/{{event.id}}', 7, undefined],
  ['https://a.example/people/{{event.id}}', undefined, INCOMPLETE],
  ['https://a.example/people/{{event.id}}', '', INCOMPLETE],
  ['https://a.example/people/{{event.id}}/tags', null, INCOMPLETE],
  ['https://a.example/people/id-{{event.id}}', '', undefined],
  ['https://a.example//people/{{event.id}}/', 'u1', undefined],
  ['https://a.example/people?id={{event.id}}', '', undefined],
  ['https://a.example/people#{{event.id}}', '..', undefined],
  ['https://a.example/people/{{event.id}}', '.', UNSAFE],
  ['https://a.example/people/{{event.id}}', '..', UNSAFE],
  ['https://a.example/people/.{{event.id}}', '.', UNSAFE],
  ['https://a.example/people/%2E{{event.id}}', '.', UNSAFE],
  ['https://a.example/people/{{event.id}}', '../x', undefined],
  ['https://a.example/files/{{event.id | path}}', 'a/b', undefined],
  ['https://a.example/files/{{event.id | path}}', 'a/../../b', UNSAFE],
  ['https://a.example/a/../people/{{event.id}}', 'u1', undefined],
  ['https://a.example/{{request.id}}/{{event.id}}', 'u1', undefined],
])('%s with the id %j', (url, id, expected) => {
  const fault = pathGuard(compileText(url, {}, { url: true }))!(sources(id));
  if (expected) expect(fault).toMatch(expected);
  else expect(fault).toBeUndefined();
});

test('a URL without a word from the event is not looked at', () => {
  expect(pathGuard(compileText('https://a.example/{{parameters.x}}/{{request.id}}', { x: '..' }, { url: true }))).toBeUndefined();
});
