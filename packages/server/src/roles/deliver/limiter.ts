import { DailyCount, effectiveRate, Pacer, type Rate, utcDay } from '@firsthand/core/delivery/rate.ts';
import type { Limiter as SharedLimiter } from '../../rate-limits/shared-limits.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Append, EventLog } from '../../stores/event-log/port.ts';

const UNLIMITED: Rate = { rps: 0, burst: 1, daily: 0 };

/**
 * Decides when an integration may send its next request. A daily limit survives a restart: the day's count is stored with
 * the settlements in the topic `limits.<integration_id>` and loaded once at start.
 */
export class Limiter {
  readonly #pacer = new Pacer();
  /** Set where other processes deliver the same integration: they share its rate. */
  shared: SharedLimiter | undefined;
  readonly #clock: Clock;
  readonly #log: EventLog;
  readonly #topic: string;
  readonly #integrationId: string;
  #rate = UNLIMITED;
  #daily = new DailyCount();
  #loaded = false;
  #written = -1;
  /** Set while the daily limit is reached: when it resets, milliseconds since 1970. */
  heldUntil: number | undefined;

  constructor(deps: { clock: Clock; log: EventLog }, integrationId: string) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#integrationId = integrationId;
    this.#topic = `limits.${integrationId}`;
  }

  configure({ integration, vendor }: CompiledIntegration): void {
    this.#rate = vendor === undefined ? UNLIMITED : effectiveRate(integration, vendor.rate);
  }

  /** True while the day's count must be loaded before the first request. */
  get mustLoad(): boolean {
    return !this.#loaded && this.#rate.daily > 0;
  }
  async load(): Promise<void> {
    for await (const record of this.#log.read(this.#topic, { limit: 1, reverse: true })) {
      const stored = JSON.parse(Buffer.from(record.data).toString('utf8')) as { day: number; used: number };
      const { day, used } = this.#daily.state;
      if (stored.day >= day) this.#daily = new DailyCount({ day: stored.day, used: stored.used + (day === stored.day ? used : 0) });
    }
    this.#loaded = true;
  }

  /** Returns 0 and counts one request, or returns the milliseconds to wait. */
  take(): number {
    const now = this.#clock.now();
    if (this.#rate.daily > 0) {
      const { day, used } = this.#daily.state;
      if (used >= this.#rate.daily && day === utcDay(now)) {
        this.heldUntil = (day + 1) * 86_400_000;
        return this.heldUntil - now;
      }
    }
    this.heldUntil = undefined;
    const wait = this.#takeToken();
    return wait > 0 ? wait : this.#daily.take(this.#rate.daily, now);
  }

  #takeToken(): number {
    const { rps, burst } = this.#rate;
    if (this.shared === undefined || !(rps > 0)) return this.#pacer.take(this.#rate, this.#clock.monotonic());
    return this.shared.take(this.#integrationId, { kind: 'rate', per_second: rps, burst });
  }

  /** The day's count, to be stored with the next settlement. */
  record(): Append[] {
    if (this.#rate.daily === 0) return [];
    const { day, used } = this.#daily.state;
    if (used === this.#written) return [];
    this.#written = used;
    const data = Buffer.from(JSON.stringify({ day, used }));
    return [{ topic: this.#topic, records: [{ id: `${this.#integrationId}#${day}#${used}`, data }] }];
  }
  async forget(): Promise<void> {
    await this.#log.remove(this.#topic);
  }
  /** Removes the counts of earlier days. */
  async expire(): Promise<void> {
    if (this.#rate.daily > 0) await this.#log.expire(this.#topic, new Date(utcDay(this.#clock.now()) * 86_400_000));
  }
}
