import { Counter, type Registry } from 'prom-client';

export type AttemptResult = 'delivered' | 'accepted' | 'refused' | 'unavailable' | 'partial';

/** Attempts by vendor and result. Counted in plain numbers and copied into the registry on scrape, because `add` runs for every request. */
export class AttemptCounts {
  readonly #vendors = new Map<string, { results: Record<AttemptResult, number>; seconds: number }>();

  add(vendor: string, result: AttemptResult, duration_ms: number): void {
    let counts = this.#vendors.get(vendor);
    if (!counts)
      this.#vendors.set(vendor, (counts = { results: { delivered: 0, accepted: 0, refused: 0, unavailable: 0, partial: 0 }, seconds: 0 }));
    counts.results[result]++;
    counts.seconds += duration_ms / 1000;
  }

  register(registry: Registry): void {
    const vendors = this.#vendors;
    new Counter({
      name: 'firsthand_delivery_attempts_total',
      help: 'Requests to vendors by result.',
      labelNames: ['vendor', 'result'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [vendor, { results }] of vendors)
          for (const [result, count] of Object.entries(results)) if (count > 0) this.inc({ vendor, result }, count);
      },
    });
    new Counter({
      name: 'firsthand_delivery_attempt_seconds_total',
      help: 'Total duration of requests to vendors, in seconds.',
      labelNames: ['vendor'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [vendor, { seconds }] of vendors) this.inc({ vendor }, seconds);
      },
    });
  }
}
