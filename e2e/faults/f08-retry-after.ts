import { setTimeout as sleep } from 'node:timers/promises';
import { send, until } from '../harness/client.ts';
import type { Answer } from '../harness/receiver.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';

const BASE_MS = 1_000;
const HOUR_MS = 3_600_000;
const SLACK_MS = 500;
/** Values of the header, and the wait each one means. */
const FORMS: { name: string; value: () => string | undefined; waitMs: number }[] = [
  { name: 'seconds', value: () => '3', waitMs: 3_000 },
  // A date has no fractional seconds, so the wait is up to one second shorter.
  { name: 'date', value: () => new Date(Date.now() + 4_000).toUTCString(), waitMs: 3_000 },
  { name: 'zero', value: () => '0', waitMs: 0 },
  { name: 'negative', value: () => '-30', waitMs: 0 },
  { name: 'past date', value: () => new Date(Date.now() - 60_000).toUTCString(), waitMs: 0 },
  { name: 'nonsense', value: () => 'soon', waitMs: 0 },
  { name: 'missing', value: () => undefined, waitMs: 0 },
  { name: 'absurd', value: () => '99999999999999', waitMs: HOUR_MS },
  { name: 'absurd date', value: () => 'Fri, 31 Dec 9999 23:59:59 GMT', waitMs: HOUR_MS },
];

export const f8: Fault = {
  id: 'F8',
  title: '429 with every kind of Retry-After',
  limit_s: { quick: 60, normal: 60, full: 60 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service({ RETRY_BASE: `${BASE_MS}ms` });
    const vendor = await scope.receiver();
    const seen = new Set<string>();
    vendor.answer((request): Answer => {
      const id = String(request.headers['webhook-id']);
      if (seen.has(id)) return {};
      seen.add(id);
      const value = FORMS.find(({ name }) => id === name.replace(' ', '-'))?.value();
      const headers: Record<string, string> = value === undefined ? {} : { 'retry-after': value };
      return { status: 429, headers };
    });
    const { key, client } = await scope.pipeline(service, vendor.url);
    for (const { name } of FORMS) await send(service, key, '/v1/t', { type: 'track', event: 'Wait', messageId: name.replace(' ', '-') });
    const triesOf = (name: string) => vendor.requests.filter((request) => request.headers['webhook-id'] === name.replace(' ', '-'));
    await until('the first tries', () => FORMS.every(({ name }) => triesOf(name).length > 0));
    await sleep(6_000);
    for (const { name, waitMs } of FORMS) {
      const [first, second] = triesOf(name);
      const least = Math.max(BASE_MS, waitMs);
      if (waitMs < HOUR_MS) {
        const gap = second ? second.at - first!.at : Number.POSITIVE_INFINITY;
        const most = Math.max(BASE_MS * 1.25, waitMs + (name === 'date' ? 1_000 : 0)) + SLACK_MS;
        figures.holds(name, `${least}–${most} ms`, gap >= least - 5 && gap <= most, `${gap} ms`);
        continue;
      }
      const due = await until('its trace', async () => {
        const { status, body } = await client.call('GET', `/events/${name.replace(' ', '-')}`);
        const step = status === 200 && body.steps.find((one: { next_attempt_at?: string }) => one.next_attempt_at !== undefined);
        return step && Date.parse(step.next_attempt_at) - first!.at;
      });
      figures.holds(
        name,
        'next attempt in 1 h',
        !second && Math.abs(due - HOUR_MS) < 5_000,
        second ? 'tried at once' : `in ${Math.round(due / 1_000)} s`,
      );
    }
    return figures.verdict;
  },
};
