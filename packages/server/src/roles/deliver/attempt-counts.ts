import { Counter, type Registry } from 'prom-client';
import { DurationBuckets, registerHistogram } from '../../runtime/duration-buckets.ts';

export type AttemptOutcome = 'delivered' | 'accepted' | 'refused' | 'unavailable' | 'partial';
interface IntegrationCounts {
  vendor: string;
  outcomes: Record<AttemptOutcome, number>;
  deadLetters: number;
}

/** Attempts and dead letters by integration. Plain numbers, copied into the registry on scrape, because `add` runs for every request. */
export class AttemptCounts {
  readonly #integrations = new Map<string, IntegrationCounts>();
  readonly #vendors = new Map<string, DurationBuckets>();

  add({ id, vendor }: { id: string; vendor: string }, outcome: AttemptOutcome, duration_ms: number): void {
    this.#of(id, vendor).outcomes[outcome]++;
    let durations = this.#vendors.get(vendor);
    if (!durations) this.#vendors.set(vendor, (durations = new DurationBuckets()));
    durations.observe(duration_ms / 1000);
  }
  addDeadLetter({ id, vendor }: { id: string; vendor: string }): void {
    this.#of(id, vendor).deadLetters++;
  }
  #of(id: string, vendor: string): IntegrationCounts {
    let counts = this.#integrations.get(id);
    if (!counts) {
      counts = { vendor, outcomes: { delivered: 0, accepted: 0, refused: 0, unavailable: 0, partial: 0 }, deadLetters: 0 };
      this.#integrations.set(id, counts);
    }
    return counts;
  }
  /** A deleted integration is no longer reported. */
  forget(integrationId: string): void {
    this.#integrations.delete(integrationId);
  }

  register(registry: Registry): void {
    const integrations = this.#integrations;
    new Counter({
      name: 'firsthand_delivery_attempts_total',
      help: 'Requests to vendors by outcome.',
      labelNames: ['integration_id', 'vendor', 'outcome'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [integration_id, { vendor, outcomes }] of integrations)
          for (const [outcome, count] of Object.entries(outcomes)) if (count > 0) this.inc({ integration_id, vendor, outcome }, count);
      },
    });
    new Counter({
      name: 'firsthand_dead_letters_total',
      help: 'Events that became dead letters at delivery.',
      labelNames: ['integration_id', 'vendor'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [integration_id, { vendor, deadLetters }] of integrations)
          if (deadLetters > 0) this.inc({ integration_id, vendor }, deadLetters);
      },
    });
    registerHistogram(registry, {
      name: 'firsthand_delivery_duration_seconds',
      help: 'Duration of requests to vendors.',
      labelNames: ['vendor'],
      read: () => [...this.#vendors].map(([vendor, durations]) => ({ labels: { vendor }, durations })),
    });
  }
}
