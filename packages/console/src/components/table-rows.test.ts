import { readFields } from '@firsthand/core/vendor/fields.ts';
import { expect, test } from 'vitest';
import { cellPath, newRow, rowsOf, storedOf, withCell } from './table-rows.ts';

const column = (key: string, more: object = {}) => ({
  key,
  label: key,
  type: 'string' as const,
  required: true,
  placeholder: 'a',
  help_text: '',
  ...more,
});
const table = { ...column('rules'), type: 'table' as const, columns: [column('event'), column('id', { default: '7' })] };
const list = { ...column('hosts'), type: 'list' as const, columns: [column('host')] };

test('a table is shown as rows and stored as it was', () => {
  const value = [{ event: 'Order Completed', id: '1' }];
  expect(rowsOf(table, value)).toEqual(value);
  expect(storedOf(table, rowsOf(table, JSON.stringify(value)))).toEqual(value);
  expect(rowsOf(table, '')).toEqual([]);
});
test('the entries of a list are rows of one column', () => {
  expect(rowsOf(list, ['a', 'b'])).toEqual([{ host: 'a' }, { host: 'b' }]);
  expect(storedOf(list, [{ host: 'a' }, {}])).toEqual(['a', '']);
});
test('a field of the API says in `rows` that it is a list', () => {
  const ofApi = { ...list, type: 'string' as const, rows: 'list' as const };
  expect(rowsOf(ofApi, ['a'])).toEqual([{ host: 'a' }]);
  expect(storedOf(ofApi, [{ host: 'a' }])).toEqual(['a']);
  expect(cellPath(ofApi, 1, 'host')).toBe('[1]');
});
test('a new row has the defaults, and an emptied cell is left out', () => {
  expect(newRow(table)).toEqual({ id: '7' });
  expect(withCell({ event: 'A', id: '1' }, 'event', '')).toEqual({ id: '1' });
});
test('a cell has the path that the service names in faults', () => {
  const rules = { mode: 'development', allow_private: true, placeholders: true } as const;
  const faults = (field: typeof table | typeof list, value: unknown) =>
    readFields([field], { [field.key]: value }, rules).invalid.map((fault) => fault.field);
  expect(faults(table, [{ event: 'A' }, { id: '1' }])).toEqual([`rules${cellPath(table, 1, 'event')}`]);
  expect(faults(list, ['a', ''])).toEqual([`hosts${cellPath(list, 1, 'host')}`]);
});
