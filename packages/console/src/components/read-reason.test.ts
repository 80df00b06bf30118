import { expect, test } from 'vitest';
import { readReason, splitMessage } from './read-reason.ts';

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

test.each([
  ['Deliveries of Meta fail: http_503: busy.', 'Deliveries of Meta fail: ', 'http_503: busy', '.'],
  [
    '3 events became dead letters (http_400: {"message":"no (never)"}).',
    '3 events became dead letters (',
    'http_400: {"message":"no (never)"}',
    ').',
  ],
  ['Web shop has received no events.', 'Web shop has received no events.', undefined, ''],
])('a message is split at the vendor’s answer: %s', (text, before, reason, after) => {
  expect(splitMessage(text)).toEqual({ before, ...(reason === undefined ? {} : { reason }), after });
});
