import { expect, test } from 'vitest';
import { RefusedError } from './api-client.ts';
import { failureText, fieldErrors, formErrors } from './forms.ts';

const refused = (...details: { field: string; message: string }[]) =>
  new RefusedError({ error: { code: 'VALIDATION_ERROR', message: 'That is not valid.', details } });
const FIELDS = ['name', 'labels', 'connection.url'];

test('a fault of an entry is said at its list (a form had no field of that name, and said nothing)', () => {
  const error = refused({ field: 'labels[1]', message: 'must be short' }, { field: 'labels[3]', message: 'must be text' });
  expect(formErrors(error, 'name', FIELDS)).toEqual({ labels: 'Entry 2: Must be short Entry 4: Must be text' });
});

test('a fault of something that the form does not have is said at the fallback, with its name', () => {
  const error = refused({ field: 'slug', message: 'is taken' }, { field: 'connection.url', message: 'is required' });
  expect(formErrors(error, 'name', FIELDS)).toEqual({ name: 'slug: Is taken', 'connection.url': 'Is required' });
  expect(formErrors(refused({ field: 'connection', message: 'is required' }), 'name', FIELDS)).toEqual({ name: 'connection: Is required' });
});

test('a slash in the name of an event stays', () => {
  const error = refused({ field: 'config.events.Add/Remove.mappings[0]', message: 'is required' });
  expect(fieldErrors(error, 'name')).toEqual({ 'config.events.Add/Remove.mappings[0]': 'Is required' });
});

test('a lost connection and a refusal without a field are said in their own words', () => {
  expect(formErrors(new Error('The service cannot be reached.'), 'name', FIELDS)).toEqual({ name: 'The service cannot be reached.' });
  expect(formErrors(refused(), 'name', FIELDS)).toEqual({ name: 'That is not valid.' });
});

test('a notification says each fault once', () => {
  const url = { field: 'config.url', message: 'must be an absolute URL' };
  const message = 'config.url must be an absolute URL.';
  const refusal = (...details: { field: string; message: string }[]) =>
    new RefusedError({ error: { code: 'VALIDATION_ERROR', message, details } });
  expect(failureText(refusal(url))).toBe(message);
  expect(failureText(refusal(url, { field: 'name', message: 'is required' }))).toBe(`${message} name: is required`);
});
