import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { expect, test } from 'vitest';
import type { Snapshot } from '../snapshot/types.ts';
import { eventSpans, traceIds } from '../telemetry/event-spans.ts';
import { encodeSpan } from '../telemetry/otlp.ts';
import { hideSpanSecrets } from './hide-span-secrets.ts';

const one = { org_id: 'org_1', pipeline_id: 'pl_1', event_id: 'e-1' };
const at = Date.parse('2026-11-16T10:00:02.000Z');
const letter = { ...one, id: 'dl_1', integration_id: 'in_1', stage: 'delivery', reason: 'retries_exhausted', attempts: [] };

test('spans carry no secret parameter that a vendor repeated in its error', () => {
  const scrub = (text: string) => text.replaceAll('tok-4711', '••••');
  const snapshot = { pipelines: new Map([[one.pipeline_id, { scrub }]]) } as unknown as Snapshot;
  const outcome = { kind: 'dead_lettered', ...one, at, type: 'track', dead_letter: { ...letter, reason: 'http_401 "tok-4711"' } };
  const [span] = eventSpans([outcome as object as Outcome], 1).map(encodeSpan);
  const hidden = hideSpanSecrets(snapshot, span ?? '');
  expect(span).toContain('tok-4711');
  expect(JSON.parse(hidden)).toMatchObject({ status: { message: 'http_401 "••••"' }, traceId: traceIds(one).traceId });
  expect(hidden).not.toContain('tok-4711');
  expect(hideSpanSecrets({ pipelines: new Map() } as unknown as Snapshot, span ?? '')).toBe(span);
});
