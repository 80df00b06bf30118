import { expect, test } from 'vitest';
import { afterSave } from './after-save.ts';

test('what was typed during a save is kept, field by field; the rest is what the service stored', () => {
  const sent = { name: ' Tidy ', code: 'a', labels: ['x'] };
  const saved = { name: 'Tidy', code: 'a', labels: ['x'] };
  expect(afterSave(sent, sent, saved)).toEqual(saved);
  expect(afterSave(sent, { ...sent, code: 'ab' }, saved)).toEqual({ name: 'Tidy', code: 'ab', labels: ['x'] });
  expect(afterSave(sent, { ...sent, labels: [] }, saved)).toEqual({ name: 'Tidy', code: 'a', labels: [] });
});
