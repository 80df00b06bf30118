import {
  ALERT_KINDS,
  type Alert,
  type AlertChannel,
  AlertChannelType,
  DELIVERY_ALERT_KINDS,
  alert as resource,
} from '@firsthand/core/config/alert.ts';
import { Closed, Id, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { finish } from '@firsthand/core/steps.ts';
import { ApiError, type FieldFault, invalidFields } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { isMask, pathText } from '../../../secrets/mask.ts';
import { restoreMaskedInSteps } from '../../../secrets/restore-masked.ts';
import { maskChannel } from '../../../stores/config/alert-channels.ts';
import { insertAlertEndings } from '../../../stores/config/alert-endings.ts';
import {
  channelKey,
  countAlerts,
  deleteAlert,
  findAlert,
  findAlertState,
  forgetAlertState,
  insertAlert,
  listAlerts,
  listFiringAlerts,
  replaceAnnounced,
  updateAlert,
} from '../../../stores/config/alerts.ts';
import { findIntegrationById } from '../../../stores/config/integrations.ts';
import type { Db, UserRole } from '../../../stores/config/schema.ts';
import { announce } from '../alerts/channels.ts';
import { announcementOf, endOf } from '../alerts/message.ts';
import { type AdminApp, type AdminContext, roleReaches } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';
import { requirePipeline } from './integrations.ts';

const tags = ['Alerts'];
const MAX_ALERTS = 100;
const EMAIL = /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/;

const FiringAlert = named(
  'FiringAlert',
  Closed({
    id: Id('alr'),
    name: Type.String(),
    kind: OneOf(ALERT_KINDS),
    pipeline_id: Nullable(Type.String()),
    integration_id: Nullable(Type.String()),
    threshold: Type.Number(),
    value: Type.Number({ description: 'The value that made it fire.' }),
    since: Timestamp,
    message: Type.String({ description: 'One sentence for people.' }),
    event_id: Nullable(Type.String({ description: 'The first event of the fault; for a backlog the oldest that waits.' })),
  }),
);
const TestResult = named(
  'AlertTestResult',
  Closed({
    type: AlertChannelType,
    ok: Type.Boolean(),
    error: Nullable(Type.String()),
  }),
);

export function alertRoutes(app: AdminApp, context: AdminContext): void {
  const { db, cipher, clock } = context;

  app.get(
    '/alerts',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List alerts',
        description: 'Newest first.',
        tags,
        querystring: Type.Object(PageQuery),
        response: { 200: ListOf('alerts', resource.response) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { rows, total } = await listAlerts(context, user.org_id, page);
      return { alerts: rows.map((alert) => withWarnings(shownTo(user.role, alert))), total, ...page };
    },
  );

  app.get(
    '/alerts/firing',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List firing alerts',
        tags,
        response: { 200: named('FiringAlertList', Closed({ alerts: Type.Array(FiringAlert) })) },
      },
    },
    async ({ user }) => ({ alerts: await listFiringAlerts(db, user.org_id) }),
  );

  app.post(
    '/alerts',
    {
      config: { role: 'editor', errors: ['CONFLICT', 'NOT_FOUND'] },
      schema: {
        summary: 'Add an alert',
        description:
          'It is evaluated every `ALERT_INTERVAL`, announces when it starts to fire with the first event of the fault, and again when the value stayed on the other side of the threshold for three checks. At most 100 in an organisation.',
        tags,
        body: resource.create,
        response: { 201: resource.response },
      },
    },
    async ({ body, user }, reply) => {
      const created = await context.write(user, 'alert.created', async (tx, change) => {
        if ((await countAlerts(tx, user.org_id)) >= MAX_ALERTS)
          throw new ApiError('CONFLICT', { message: `An organisation has at most ${MAX_ALERTS} alerts: delete some first.` });
        const { now } = change.stamp;
        const value: Alert = {
          ...resource.defaults,
          ...body,
          id: newId('alr', clock.now()),
          org_id: user.org_id,
          created_at: now,
          updated_at: now,
        };
        const sent = withStoredAddresses(value, []);
        await check(tx, sent);
        const made = await insertAlert({ db: tx, cipher }, sent);
        change.audit({ id: made.id, after: masked(made) });
        return made;
      });
      return reply.code(201).send(withWarnings(shownTo(user.role, created)));
    },
  );

  app.get(
    '/alerts/:id',
    { config: { role: 'viewer' }, schema: { summary: 'Read an alert', tags, params: IdParams, response: { 200: resource.response } } },
    async ({ params, user }) => withWarnings(shownTo(user.role, found(await findAlert(context, user.org_id, params.id)))),
  );

  app.put(
    '/alerts/:id',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Change an alert',
        tags,
        params: IdParams,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: resource.update,
        response: { 200: resource.response },
      },
    },
    async ({ params, body, user, headers }) =>
      await context.write(user, 'alert.updated', async (tx, change) => {
        const before = found(await findAlert({ db: tx, cipher }, user.org_id, params.id));
        requireUnchanged(headers['if-match'], before.updated_at, 'The alert');
        const sent = withStoredAddresses(body, before.channels);
        await check(tx, { ...before, ...sent }, before);
        const after = await updateAlert({ db: tx, cipher }, before, { ...sent, updated_at: change.stamp.now });
        await end(tx, before, after, change.stamp.now);
        change.audit({ id: before.id, before: masked(before), after: masked(after) });
        return withWarnings(shownTo(user.role, after));
      }),
  );

  app.delete(
    '/alerts/:id',
    {
      config: { role: 'admin' },
      schema: { summary: 'Delete an alert', tags, params: IdParams, response: { 204: Type.Null({ description: 'No content.' }) } },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'alert.deleted', async (tx, change) => {
        const before = found(await findAlert({ db: tx, cipher }, user.org_id, params.id));
        await end(tx, before, undefined, change.stamp.now);
        await deleteAlert(tx, user.org_id, before.id);
        change.audit({ id: before.id, before: masked(before) });
      });
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/alerts/:id/test',
    {
      config: { role: 'editor', unaudited: true, optionalBody: true },
      schema: {
        summary: 'Send a test message',
        description:
          'Sends a message to every channel now and reports for each whether it was sent, or why not. What a mail server answered is only in the log.',
        tags,
        params: IdParams,
        response: { 200: named('AlertTestResults', Closed({ results: Type.Array(TestResult) })) },
      },
    },
    async ({ params, user }) => {
      const alert = found(await findAlert(context, user.org_id, params.id));
      const state = { message: 'This is a test. Nothing is wrong.', value: 0, since: new Date(clock.now()).toISOString(), event_id: null };
      const announcement = announcementOf('test', alert, state, context.settings.baseUrl);
      const deps = { client: context.operations.client, settings: context.settings };
      const results = await Promise.all(
        alert.channels.map(async (channel) => {
          const unsent = await announce(deps, channel, announcement);
          if (unsent?.detail !== undefined)
            context.logger.warn({ alert_id: alert.id, channel: channel.type, ...unsent }, 'test message not sent');
          return { type: channel.type, ok: unsent === undefined, error: unsent?.reason ?? null };
        }),
      );
      return { results };
    },
  );

  /** Channels that were told of the alert, and no longer belong to it, are told its end by the process that evaluates alerts. */
  async function end(tx: Db, before: Alert, after: Alert | undefined, now: string): Promise<void> {
    const state = await findAlertState(tx, before.id);
    if (state === undefined) return;
    const goesOn = before.enabled && after?.enabled === true && watchesTheSame(before, after);
    const kept = new Set(goesOn ? after.channels.map(channelKey) : []);
    const ended = before.channels.filter((channel) => !kept.has(channelKey(channel)) && state.announced[channelKey(channel)] === 'firing');
    const verb = after === undefined ? 'deleted' : after.enabled ? 'changed' : 'disabled';
    const announcement = endOf(before, state, verb, now, context.settings.baseUrl);
    const { id: alert_id, org_id } = before;
    await insertAlertEndings(
      { db: tx, cipher },
      ended.map((channel) => ({ alert_id, org_id, channel, announcement, created_at: now })),
    );
    if (!goesOn) return await forgetAlertState(tx, alert_id);
    const left = Object.entries(state.announced).filter(([key]) => kept.has(key));
    await replaceAnnounced(tx, alert_id, Object.fromEntries(left));
  }

  /** A missing setting can be added later, so it is no reason to reject the alert. */
  function withWarnings(alert: Alert) {
    const mute = context.settings.smtpUrl === undefined && alert.channels.some(({ type }) => type === 'email');
    return { ...alert, warnings: mute ? ['E-mail cannot be sent: the setting SMTP_URL is missing.'] : [] };
  }

  /** What the schema cannot say: the scope fits the kind, the channels are complete, the resources exist. */
  async function check(tx: Db, alert: Alert, before?: Alert): Promise<void> {
    const faults = [
      ...alert.channels.flatMap((channel, at) => channelFaults(channel, at)),
      ...(alert.integration_id !== null && !DELIVERY_ALERT_KINDS.includes(alert.kind)
        ? [{ field: 'integration_id', message: `applies only to ${DELIVERY_ALERT_KINDS.join(', ')}` }]
        : []),
    ];
    if (faults.length > 0) throw invalidFields(faults);
    // Its pipeline or integration may have been deleted since: the alert can still be renamed or disabled.
    if (before !== undefined && watchesTheSame(before, alert)) return;
    if (alert.pipeline_id !== null) await requirePipeline(tx, alert.org_id, alert.pipeline_id);
    if (alert.integration_id === null) return;
    const integration = await findIntegrationById(tx, alert.org_id, alert.integration_id);
    if (integration === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such integration.' });
    if (alert.pipeline_id !== null && integration.pipeline_id !== alert.pipeline_id)
      throw invalidFields([{ field: 'integration_id', message: 'belongs to another pipeline' }]);
  }

  function channelFaults({ type, url, to }: AlertChannel, at: number): FieldFault[] {
    const fault = (name: string, message: string) => [{ field: pathText(['channels', at, name]), message }];
    if (type === 'email') {
      if (url !== undefined) return fault('url', 'is for webhook and slack; e-mail uses to');
      if (to === undefined || !EMAIL.test(to)) return fault('to', 'must be an e-mail address');
      return [];
    }
    if (to !== undefined) return fault('to', 'is for email; this channel uses url');
    const address = url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
    if (address === undefined || !['http:', 'https:'].includes(address.protocol)) return fault('url', 'must be an http or https address');
    if (address.protocol === 'http:' && context.settings.mode === 'production') return fault('url', 'must use https in production');
    return [];
  }
}

function watchesTheSame(one: Alert, other: Alert): boolean {
  return one.kind === other.kind && one.pipeline_id === other.pipeline_id && one.integration_id === other.integration_id;
}

/** A channel's address lets its holder post there. */
function masked(alert: Alert): Alert {
  return { ...alert, channels: alert.channels.map(maskChannel) };
}
/** A Slack address is a credential, which nobody reads back. Editors read the other addresses. */
function shownTo(role: UserRole, alert: Alert): Alert {
  if (!roleReaches(role, 'editor')) return masked(alert);
  return { ...alert, channels: alert.channels.map((channel) => (channel.type === 'slack' ? maskChannel(channel) : channel)) };
}

/**
 * Masks that are sent back stand for the stored addresses, each for a channel of the same type: a Slack address that became one of a webhook
 * would read back.
 */
function withStoredAddresses<T extends Partial<Pick<Alert, 'channels'>>>(sent: T, stored: Alert['channels']): T {
  const { channels } = sent;
  if (channels === undefined) return sent;
  const secrets = channels.flatMap((_, at) => ['url', 'to'].map((name) => ['channels', at, name]));
  const { config, unknown } = finish(restoreMaskedInSteps({ channels } as JsonObject, { channels: stored } as JsonObject, secrets));
  const restored = config.channels as unknown as Alert['channels']; // the same list, with stored texts in place of masks
  const moved = restored.flatMap(({ type, url, to }, at) => {
    const wasMasked = isMask(channels[at]?.url ?? null) || isMask(channels[at]?.to ?? null);
    const isKept = stored.some((channel) => channel.type === type && channel.url === url && channel.to === to);
    return wasMasked && !isKept ? [['channels', at, type === 'email' ? 'to' : 'url']] : [];
  });
  const faults = unknown.length > 0 ? unknown : moved;
  if (faults.length > 0)
    throw invalidFields(
      faults.map((path) => ({ field: pathText(path), message: 'is a mask that fits no stored address: send the address itself' })),
    );
  return { ...sent, channels: restored };
}

function found<T>(alert: T | undefined): T {
  if (alert === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such alert.' });
  return alert;
}
