/**
 * Evaluates every enabled alert at an interval, in the one process that holds the lease. Announcements are sent beside the evaluation, a few
 * at once for each organisation: slow channels of one delay nobody else's alerts. One that cannot be sent is repeated with growing waits, also
 * by the next process, because the state has the last announcement to each channel.
 */
import type { Alert, AlertChannel, AlertKind } from '@firsthand/core/config/alert.ts';
import type { Settings } from '../../../config.ts';
import { errorText } from '../../../runtime/error-text.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { isFullDisk, SpaceWait } from '../../../runtime/space-wait.ts';
import type { Cipher } from '../../../secrets/cipher.ts';
import { hideSecrets } from '../../../snapshot/hide-secrets.ts';
import { type AlertEnding, deleteAlertEnding, insertAlertEndings, listAlertEndings } from '../../../stores/config/alert-endings.ts';
import {
  type AlertState,
  channelKey,
  listEnabledAlerts,
  noteAnnounced,
  readAlertStates,
  writeAlertState,
} from '../../../stores/config/alerts.ts';
import type { Db } from '../../../stores/config/schema.ts';
import type { Leases } from '../../../stores/leases/port.ts';
import { type Failure, firstFailure } from '../../../stores/observe/first-failure.ts';
import { announce, type ChannelDeps, type Unsent } from './channels.ts';
import { type MeasureDeps, type Measured, measure } from './measure.ts';
import { type Announcement, announcementOf, describe, endOf } from './message.ts';
import { oldestWaiting } from './oldest-waiting.ts';
import { nextState } from './state.ts';

const LEASE = 'alerts';
const FIRST_REPEAT_MS = 15_000;
const LAST_REPEAT_MS = 600_000;
/** Announcements of one organisation that are sent at once. */
const AT_ONCE = 4;
/** The end of an alert that was disabled or deleted is tried for so long. */
const END_WITHIN_MS = 24 * 3_600_000;
/** A rejected event is counted a moment before its copy is recorded: an alert waits this long for the event that it shows. */
const EVENT_WITHIN_MS = 10_000;
/** These kinds do not wait for an event: silence has none, and a backlog only where the traces tell the oldest. */
const WITHOUT_EVENT: readonly AlertKind[] = ['silent', 'backlog'];

export interface AlertDeps extends MeasureDeps, ChannelDeps {
  db: Db;
  /** Opens the addresses of the channels. */
  cipher: Cipher;
  leases: Leases;
  logger: Pick<Logger, 'warn'>;
  settings: ChannelDeps['settings'] & Pick<Settings, 'alertIntervalMs' | 'baseUrl' | 'dataDir'>;
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
  /** Announcements of this process: the states of an evaluation may be older. */
  readonly #told = new Map<string, Occasion>();
  /** Channels that have yet to get the end of an earlier occasion. Nothing new is announced to them before. */
  #ending = new Set<string>();
  readonly #sending = new Map<string, Promise<void>>();
  readonly #queues = new Map<string, SendQueue>();
  readonly #stopping = Promise.withResolvers<'stopped'>();
  readonly #timer: NodeJS.Timeout;
  readonly #space: SpaceWait;
  #isStopped = false;
  #running: Promise<void> | undefined;
  #noting: Promise<void> = Promise.resolve();

  constructor(deps: AlertDeps) {
    this.#deps = deps;
    this.#space = new SpaceWait(deps.settings.dataDir);
    this.#timer = setInterval(() => {
      if (!this.#space.isOver()) return;
      this.#running ??= this.evaluate()
        .catch((error: unknown) => {
          this.#noteSpace(error);
          deps.logger.warn({ err: error }, 'alerts not evaluated, retrying');
        })
        .finally(() => {
          this.#running = undefined;
        });
    }, deps.settings.alertIntervalMs);
    this.#timer.unref();
  }

  /** Gives up announcements that are being sent: the next process sends them. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopped = true;
    this.#stopping.resolve('stopped');
    await this.#running;
    await this.announced();
  }

  /** Waits for the announcements that are being sent. */
  async announced(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  async evaluate(): Promise<void> {
    const [alerts, states] = await Promise.all([listEnabledAlerts(this.#deps), readAlertStates(this.#deps.db)]);
    // Read last: what ended an alert forgot its state in the same transaction, so no alert begins anew here without its end.
    const since = new Date(this.#deps.clock.now() - END_WITHIN_MS).toISOString();
    const endings = await listAlertEndings<Announcement>(this.#deps, since, (alert_id, error) =>
      this.#deps.logger.warn({ err: error, alert_id }, 'end of an alert not readable, retrying'),
    );
    this.#ending = new Set(endings.map(endingKey));
    for (const ending of endings) this.#end(ending);
    for (const alert of alerts) {
      if (this.#isStopped) return;
      try {
        await this.#evaluateOne(alert, states.get(alert.id));
      } catch (error) {
        this.#noteSpace(error);
        this.#deps.logger.warn({ err: error, alert_id: alert.id }, 'alert not evaluated, retrying');
      }
    }
    const known = new Set(alerts.map(({ id }) => id));
    for (const perAlert of [this.#calm, this.#waiting]) for (const id of perAlert.keys()) if (!known.has(id)) perAlert.delete(id);
    const channels = new Set(alerts.flatMap((alert) => alert.channels.map((channel) => sendingKey(alert, channel))));
    for (const key of this.#ending) channels.add(key);
    for (const perChannel of [this.#repeats, this.#told])
      for (const key of perChannel.keys()) if (!channels.has(key)) perChannel.delete(key);
  }

  #noteSpace(error: unknown): void {
    if (isFullDisk(error)) this.#space.failed();
  }

  async #evaluateOne(alert: Alert, stored: AlertState | undefined): Promise<void> {
    // New, or begun anew: disabled in between, or it watches something else now.
    if (stored === undefined) for (const channel of alert.channels) this.#told.delete(sendingKey(alert, channel));
    const measured = await measure(this.#deps, alert);
    if (measured === 'unknown') return void (stored && this.#tell(alert, stored));
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
      if (!(await writeAlertState(this.#deps.db, alert, state))) return;
      this.#space.succeeded();
    }
    if (state !== undefined) this.#tell(alert, state);
  }

  async #firstFailure(alert: Alert, measured: Measured | undefined): Promise<Failure | undefined> {
    if (measured?.oldest !== undefined) return await this.#oldestWaiting(alert, measured.oldest);
    if (measured?.firstAt === undefined) return undefined;
    const failure = await firstFailure(this.#deps.observe, alert.kind, alert, measured.firstAt);
    // A vendor may repeat a secret parameter in its error.
    return failure && hideSecrets(this.#deps.snapshots.current(), failure.pipeline_id, failure);
  }
  /** A backlog is announced even if its event cannot be read: the stores may be part of the problem. */
  async #oldestWaiting({ id }: Alert, { integration, at }: NonNullable<Measured['oldest']>): Promise<Failure | undefined> {
    try {
      return await oldestWaiting(this.#deps, integration, at);
    } catch (error) {
      this.#deps.logger.warn({ err: error, alert_id: id }, 'oldest waiting event not read, alert sent without it');
      return undefined;
    }
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

  /** Announces the state to each channel that has another one, without waiting. A channel to which the alert was never announced does not get its end. */
  #tell(alert: Alert, state: AlertState): void {
    const occasion: Occasion = state.firing ? 'firing' : 'resolved';
    for (const channel of alert.channels) {
      const key = sendingKey(alert, channel);
      const told = this.#told.get(key) ?? state.announced[channelKey(channel)] ?? 'resolved';
      if (this.#sending.has(key) || this.#ending.has(key)) continue;
      if (told === occasion) {
        // The next announcement that fails is logged again.
        this.#repeats.delete(key);
        continue;
      }
      this.#start(key, alert.org_id, () => this.#send(alert, { ...state }, channel, occasion));
    }
  }

  #end(ending: AlertEnding<Announcement>): void {
    const key = endingKey(ending);
    if (this.#sending.has(key)) return;
    this.#start(key, ending.org_id, async () => {
      if (!(await this.#sent(key, ending.alert_id, ending.channel, ending.announcement))) return;
      this.#told.delete(key);
      await deleteAlertEnding(this.#deps.db, ending);
      this.#ending.delete(key);
    });
  }

  #start(key: string, orgId: string, send: () => Promise<void>): void {
    const repeat = this.#repeats.get(key);
    if (repeat !== undefined && repeat.at > this.#deps.clock.monotonic()) return;
    const [alert_id] = key.split(' ');
    const sent = this.#queueOf(orgId)
      .run(send)
      .catch((error: unknown) => this.#deps.logger.warn({ err: error, alert_id }, 'alert state not written'))
      .finally(() => this.#sending.delete(key));
    this.#sending.set(key, sent);
  }

  async #send(alert: Alert, state: AlertState, channel: AlertChannel, occasion: Occasion): Promise<void> {
    const { db, settings } = this.#deps;
    const key = sendingKey(alert, channel);
    if (!(await this.#sent(key, alert.id, channel, announcementOf(occasion, alert, state, settings.baseUrl)))) return;
    this.#told.set(key, occasion);
    // One after the other: each reads and writes the announcements of its alert.
    this.#noting = this.#noting
      .catch(() => undefined)
      .then(async () => {
        if ((await noteAnnounced(db, alert.id, channelKey(channel), occasion)) || occasion === 'resolved') return;
        // Disabled or deleted while the message was sent.
        const now = this.#now();
        const announcement = endOf(alert, state, 'changed', now, settings.baseUrl);
        await insertAlertEndings(this.#deps, [{ alert_id: alert.id, org_id: alert.org_id, created_at: now, channel, announcement }]);
      });
    await this.#noting;
  }

  /** False where it failed, and is repeated later. */
  async #sent(key: string, alert_id: string, channel: AlertChannel, announcement: Announcement): Promise<boolean> {
    if (this.#isStopped) return false;
    const sent = announce(this.#deps, channel, announcement).catch((error: unknown): Unsent => ({ reason: errorText(error) }));
    const failure = await Promise.race([sent, this.#stopping.promise]);
    const repeat = this.#repeats.get(key);
    if (failure === undefined) {
      this.#repeats.delete(key);
      return true;
    }
    if (this.#isStopped || failure === 'stopped') return false;
    const waitMs = repeat?.waitMs ?? FIRST_REPEAT_MS;
    this.#repeats.set(key, { at: this.#deps.clock.monotonic() + waitMs, waitMs: Math.min(waitMs * 2, LAST_REPEAT_MS) });
    if (repeat === undefined) this.#deps.logger.warn({ alert_id, channel: channel.type, ...failure }, 'alert not sent, retrying');
    return false;
  }

  #queueOf(orgId: string): SendQueue {
    let queue = this.#queues.get(orgId);
    if (queue === undefined) this.#queues.set(orgId, (queue = new SendQueue(() => this.#queues.delete(orgId))));
    return queue;
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

type Occasion = 'firing' | 'resolved';
const keyOf = (alertId: string, channel: AlertChannel) => `${alertId} ${channelKey(channel)}`;
const sendingKey = (alert: Alert, channel: AlertChannel) => keyOf(alert.id, channel);
const endingKey = ({ alert_id, channel }: AlertEnding<Announcement>) => keyOf(alert_id, channel);

/** Runs at most AT_ONCE of one organisation; the others wait. */
class SendQueue {
  readonly #waiting: (() => void)[] = [];
  readonly #whenEmpty: () => void;
  #running = 0;

  constructor(whenEmpty: () => void) {
    this.#whenEmpty = whenEmpty;
  }
  async run(send: () => Promise<void>): Promise<void> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      await send();
    } finally {
      const next = this.#waiting.shift();
      if (next !== undefined) next();
      else if (--this.#running === 0) this.#whenEmpty();
    }
  }
}

function stateOf(alert: Alert, stored: AlertState | undefined): AlertState {
  return stored ?? { alert_id: alert.id, firing: false, since: '', value: 0, message: '', event_id: null, announced: {} };
}
