import { JetStreamApiError } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { natsFailure } from './nats.ts';

test.each([
  [10_054, 'message size exceeds maximum allowed', 'refused'],
  [10_077, 'maximum messages exceeded', 'unavailable'],
  [10_023, 'insufficient resources', 'unavailable'],
])('the stream’s error %d (%s) is %s', (err_code, description, kind) => {
  expect(natsFailure(new JetStreamApiError({ code: 400, err_code, description }))).toEqual({ kind, reason: `nats: ${description}` });
});
