import { expect, test } from 'vitest';
import { parseSearch, stringifySearch } from './search-text.ts';

test.each([
  '12345678901234567890',
  '1234',
  '1e5',
  '007',
  'null',
  'true',
  '{"a":1}',
  '"quoted"',
  '""',
  '"',
  'a/b?c#d%20e +&=',
  'مستخدم 🛒',
])('the text %s is in the address as it is', (user) => {
  expect(parseSearch(stringifySearch({ user, event: undefined }))).toEqual({ user });
});
test.each([
  ['?user=12345678901234567890', { user: '12345678901234567890' }],
  ['?user=%221234%22&event=Order+Completed', { user: '1234', event: 'Order Completed' }],
  ['?selected=null', { selected: 'null' }],
  ['?user=a&user=b', { user: 'b' }],
  ['', {}],
])('an address from elsewhere is read to the letter: %s', (text, search) => expect(parseSearch(text)).toEqual(search));
test('a search without texts leaves no question mark', () => expect(stringifySearch({ user: undefined })).toBe(''));
