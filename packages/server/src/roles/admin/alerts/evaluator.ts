/**
 * Evaluates every enabled alert at an interval, in the one process that holds the lease. An announcement that cannot be sent is repeated
 * with growing waits, also by the next process, because the state says what each channel was told.
 */
import type { Alert, AlertKind } from '@firsthand/core/config/alert.ts';
import type { Settings } from '../../../config.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { type AlertState, listEnabledAlerts, readAlertStates, writeAlertState } from '../../../stores/config/alerts.ts';
import type { Db } from '../../../stores/config/schema.ts';
import type { Leases } from '../../../stores/leases/port.ts';
import { type Failure, firstFailure } from '../../../stores/observe/first-failure.ts';
import { announce, type ChannelDeps, channelKey } from './channels.ts';
import { type MeasureDeps, type Measured, measure } from './measure.ts';
import { announcementOf, describe } from './message.ts';
import { nextState } from './state.ts';

const LEASE = 'alerts';
const FIRST_REPEAT_MS = 15_000;
const LAST_REPEAT_MS = 600_000;
/** A rejected event is counted a moment before its copy is recorded: an alert waits this long for the event that it shows. */
const EVENT_WITHIN_MS = 10_000;
/** These kinds have no single event behind them. */
const WITHOUT_EVENT: readonly AlertKind[] = ['silent', 'backlog'];

export interface AlertDeps extends MeasureDeps, ChannelDeps {
  db: Db;
  leases: Leases;
  logger: Pick<Logger, 'warn'>;
  settings: ChannelDeps['settings'] & Pick<Settings, 'alertIntervalMs' | 'baseUrl'>;
}

export function startAlerts(deps: AlertDeps): { stop(): Promise<void> } {
  let evaluator: Evaluator | undefined;
  const share = deps.leases.share([LEASE], {
    async won() {
      evaluator = new Evaluator(deps);
    },
    async lost() {
      await evaluator?.stop();
      evaluator = undefined;
    },
  });
  return {
    async stop() {
      await share.stop();
      await evaluator?.stop();
    },
  };
}

export class Evaluator {
  readonly #deps: AlertDeps;
  /** Calm checks in a row, by alert. */
  readonly #calm = new Map<string, number>();
  /** Alerts that would fire but wait for their event, and until when. */
  readonly #waiting = new Map<string, number>();
  /** Channels that failed: when to try again, and the wait after that. */
  readonly #repeats = new Map<string, { at: number; waitMs: number }>();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(deps: AlertDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => {
      this.#running ??= this.evaluate()
        .catch((error: unknown) => deps.logger.warn({ err: error }, 'alerts not evaluated, trying again'))
        .finally(() => {
          this.#running = undefined;
        });
    }, deps.settings.alertIntervalMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async evaluate(): Promise<void> {
    const [alerts, states] = await Promise.all([listEnabledAlerts(this.#deps.db), readAlertStates(this.#deps.db)]);
    for (const alert of alerts) await this.#evaluateOne(alert, states.get(alert.id));
    const known = new Set(alerts.map(({ id }) => id));
    for (const id of this.#calm.keys()) if (!known.has(id)) this.#calm.delete(id);
    for (const id of this.#waiting.keys()) if (!known.has(id)) this.#waiting.delete(id);
  }

  async #evaluateOne(alert: Alert, stored: AlertState | undefined): Promise<void> {
    const measured = await measure(this.#deps, alert);
    const before = { firing: stored?.firing ?? false, calm: this.#calm.get(alert.id) ?? 0 };
    const next = nextState(before, measured?.over ?? false);
    this.#calm.set(alert.id, next.calm);
    let state = stored;
    if (next.firing !== before.firing) {
      const failure = next.firing ? await this.#firstFailure(alert, measured) : undefined;
      if (next.firing && failure === undefined && this.#waitsForEvent(alert)) return;
      this.#waiting.delete(alert.id);
      state = next.firing
        ? this.#fired(alert, measured, stored, failure)
        : { ...stateOf(alert, stored), firing: false, since: this.#now(), value: measured?.value ?? 0 };
      await writeAlertState(this.#deps.db, state);
    }
    if (state !== undefined) await this.#tell(alert, state);
  }

  async #firstFailure(alert: Alert, measured: Measured | undefined): Promise<Failure | undefined> {
    return measured?.firstAt === undefined ? undefined : await firstFailure(this.#deps.observe, alert.kind, alert, measured.firstAt);
  }
  #waitsForEvent({ id, kind }: Alert): boolean {
    if (WITHOUT_EVENT.includes(kind)) return false;
    const now = this.#deps.clock.monotonic();
    const until = this.#waiting.get(id) ?? now + EVENT_WITHIN_MS;
    this.#waiting.set(id, until);
    return now < until;
  }
  #fired(alert: Alert, measured: Measured | undefined, stored: AlertState | undefined, failure: Failure | undefined): AlertState {
    const value = measured?.value ?? 0;
    return {
      ...stateOf(alert, stored),
      firing: true,
      since: this.#now(),
      value,
      message: describe(alert, value, failure?.reason ?? null),
      event_id: failure?.event_id ?? null,
    };
  }

  /** Tells each channel what it does not know yet. A channel that never heard of the alert is not told that it ended. */
  async #tell(alert: Alert, state: AlertState): Promise<void> {
    const { clock, settings, logger, db } = this.#deps;
    const occasion = state.firing ? 'firing' : 'resolved';
    for (const channel of alert.channels) {
      const key = channelKey(channel);
      const told = state.announced[key] ?? 'resolved';
      const repeatKey = `${alert.id} ${key}`;
      const repeat = this.#repeats.get(repeatKey);
      if (told === occasion) {
        // The next announcement that fails is logged again.
        this.#repeats.delete(repeatKey);
        continue;
      }
      if (repeat !== undefined && repeat.at > clock.monotonic()) continue;
      const failure = await announce(this.#deps, channel, announcementOf(occasion, alert, state, settings.baseUrl));
      if (failure === undefined) {
        this.#repeats.delete(repeatKey);
        state.announced[key] = occasion;
        await writeAlertState(db, state);
        continue;
      }
      const waitMs = repeat?.waitMs ?? FIRST_REPEAT_MS;
      this.#repeats.set(repeatKey, { at: clock.monotonic() + waitMs, waitMs: Math.min(waitMs * 2, LAST_REPEAT_MS) });
      if (repeat === undefined) logger.warn({ alert_id: alert.id, channel: channel.type, reason: failure }, 'alert not sent, trying again');
    }
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

function stateOf(alert: Alert, stored: AlertState | undefined): AlertState {
  return stored ?? { alert_id: alert.id, firing: false, since: '', value: 0, message: '', event_id: null, announced: {} };
}
