import { expect, test } from 'vitest';
import { readReason } from './read-reason.ts';

test.each([
  ['http_400: {"error_user_msg":"No currency.","message":"Invalid parameter"}', '400', 'No currency.'],
  ['http_422: {"errors":[{"detail":"email is wrong"}]}', '422', 'email is wrong'],
  ['http_503: upstream connect error', '503', 'upstream connect error'],
  ['http_500', '500', 'The vendor gave no reason.'],
  ['http_400: {"code":7}', '400', '{"code":7}'],
  ['consent_not_granted', undefined, 'consent not granted'],
])('%s reads as %s %s', (reason, code, message) => {
  expect(readReason(reason)).toMatchObject({ code, message });
});
