import type { Alert } from '@firsthand/core/config/alert.ts';
import { expect, test } from 'vitest';
import { describe } from './message.ts';

test.each<[Alert['kind'], number, string]>([
  ['failing', 1, '1 delivery attempt failed in the last 5 minutes (http_400).'],
  ['silent', 0, 'No event arrived in the last 5 minutes; at least 1 was expected.'],
  ['backlog', 1, '1 event waits for delivery.'],
  ['backlog', 2, '2 events wait for delivery.'],
  ['dead_letters', 1, '1 event became a dead letter in the last 5 minutes (http_400).'],
  ['dead_letters', 2, '2 events became dead letters in the last 5 minutes (http_400).'],
  ['rejected', 1, '1 event was rejected in the last 5 minutes (http_400).'],
  ['rejected', 2, '2 events were rejected in the last 5 minutes (http_400).'],
])('an alert about one event said "1 event wait", "1 event were": %s of %i', (kind, value, message) => {
  expect(describe({ kind, window_minutes: 5, threshold: 1 } as Alert, value, 'http_400')).toBe(message);
});
