/**
 * The OAuth connect flow: a person authorises the organisation's own client at a vendor, and the refresh token becomes part of a new
 * revision. The state is single use, expires, and belongs to the session and the browser that started the flow.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Integration } from '@firsthand/core/config/integration.ts';
import type { Template } from '@firsthand/core/config/template.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { substitute } from '@firsthand/core/mapping/parameters/substitute.ts';
import {
  authorizeUrl,
  type ConnectPlan,
  codeRequest,
  connectedConfig,
  connectPlan,
  readCodeReply,
} from '@firsthand/core/vendor/connect.ts';
import type { ConnectDefinition, VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { ApiError, invalidFields } from '../../http/errors.ts';
import { insertConnectRequest, takeConnectRequest } from '../../stores/config/connect-requests.ts';
import { findIntegrationById, updateIntegration } from '../../stores/config/integrations.ts';
import { organisationKey } from '../../stores/config/organisations.ts';
import { readParameters } from '../../stores/config/pipeline-parameters.ts';
import { findRevision, latestRevision, type StoredRevision } from '../../stores/config/revisions.ts';
import type { ConnectRequestRow, Db } from '../../stores/config/schema.ts';
import { findSessionUser } from '../../stores/config/sessions.ts';
import { findTemplate } from '../../stores/config/templates.ts';
import { type Actor, type AdminContext, roleReaches } from './deps.ts';
import { checkConfig, openStored, requireVendor, toRevision, urlRules } from './integration-config.ts';
import { addRevision } from './template-writes.ts';

export const CONNECT_TTL_S = 600;
const TIMEOUT_MS = 10_000;

/** What to connect: a template's latest revision, or the revision that an integration is pinned to. */
interface Target {
  template: Template;
  integration: Integration | undefined;
  vendor: VendorDefinition;
  connect: ConnectDefinition;
  revision: StoredRevision;
  config: JsonObject;
  plan: ConnectPlan;
}
interface Sealed {
  verifier: string;
  redirect_uri: string;
  client_id: string;
  token_url: string;
}
export interface Started {
  authorize_url: string;
  redirect_uri: string;
  expires_at: string;
  /** For the cookie. */
  browser: string;
}
type Named = { template_id: string; integration_id: string | null };

export function createOauthConnect(context: AdminContext) {
  const { db, cipher, clock } = context;

  async function start(user: Actor, named: Named, redirect_uri: string): Promise<Started> {
    const { plan } = await requireTarget(db, user.org_id, named);
    const [state, browser, verifier] = [secret(), secret(), secret()];
    const now = clock.now();
    const expires_at = new Date(now + CONNECT_TTL_S * 1000).toISOString();
    const sealed: Sealed = { verifier, redirect_uri, client_id: plan.client_id, token_url: plan.token_url };
    const row: ConnectRequestRow = {
      state_hash: sha256(state),
      org_id: user.org_id,
      user_id: user.id,
      session_id: user.session_id,
      browser_hash: sha256(browser),
      ...named,
      secrets: cipher.sealText(await organisationKey(db, user.org_id), JSON.stringify(sealed)),
      expires_at,
    };
    await insertConnectRequest(db, row, new Date(now).toISOString());
    return { authorize_url: authorizeUrl(plan, { redirect_uri, state, challenge: sha256(verifier) }), redirect_uri, expires_at, browser };
  }

  /** The request that the browser returns from, once. */
  async function take(state: string, browser: string): Promise<ConnectRequestRow> {
    const hashes = { state_hash: sha256(state), browser_hash: sha256(browser) };
    const row = await takeConnectRequest(db, hashes, new Date(clock.now()).toISOString());
    if (row === undefined) throw failed('The connection was not started in this browser, took too long, or was already used. Start again.');
    return row;
  }

  /** Exchanges the code and stores the refresh token. Returns the console's page of what was connected. */
  async function finish(row: ConnectRequestRow, code: string, client: Pick<Actor, 'ip' | 'user_agent'>): Promise<string> {
    const { org_id } = row;
    const user = await findSessionUser(db, row.session_id, row.user_id);
    if (user === undefined || user.org_id !== org_id || !roleReaches(user.role, 'editor'))
      throw failed('The session that started the connection has ended, or its user may no longer change integrations. Start again.');
    const { plan, connect } = await requireTarget(db, org_id, row);
    const sealed = JSON.parse(cipher.openText(await organisationKey(db, org_id), row.secrets)) as Sealed;
    if (sealed.client_id !== plan.client_id || sealed.token_url !== plan.token_url)
      throw failed('The OAuth client was changed while the connection was in progress. Start again.');
    const token = await exchangeCode(plan, { code, redirect_uri: sealed.redirect_uri, verifier: sealed.verifier });
    const author = { ...user, ...client };
    const action = row.integration_id === null ? 'template.connected' : 'integration.connected';
    return await context.write(author, action, async (tx, change) => {
      const { template, integration, vendor, revision, config } = await requireTarget(tx, org_id, row);
      const last = await latestRevision(tx, org_id, template.id);
      const next = connectedConfig(connect, config, token);
      await checkConfig(context, vendor, next, revision.delivery_mode, { complete: integration !== undefined });
      const org = await organisationKey(tx, org_id);
      const before = await toRevision(context, org, template.vendor, revision);
      const after = await addRevision(context, tx, user, change, {
        template,
        revision_number: (last ?? revision).revision_number + 1,
        vendor,
        config: next,
        delivery_mode: revision.delivery_mode,
        change_summary: `Connected to ${plan.provider}`,
      });
      const shown = ({ revision_number, config: masked }: typeof before) => ({ revision_number, config: masked });
      change.audit({ id: integration?.id ?? template.id, before: shown(before), after: shown(after) });
      if (integration === undefined) return `/templates/${template.id}?revision=${after.revision_number}`;
      await updateIntegration(tx, integration, { revision_number: after.revision_number }, change.stamp);
      return `/pipelines/${integration.pipeline_id}?tab=integrations&integration=${integration.id}`;
    });
  }

  async function exchangeCode(plan: ConnectPlan, sent: { code: string; redirect_uri: string; verifier: string }): Promise<string> {
    const result = await context.operations.client.send(codeRequest(plan, sent), TIMEOUT_MS);
    const reply =
      result.kind === 'reply'
        ? readCodeReply(result.reply)
        : { kind: result.permanent ? ('refused' as const) : ('unavailable' as const), reason: result.error };
    if (reply.kind === 'refresh_token') return reply.token;
    context.logger.warn({ reason: reply.reason, token_url: plan.token_url }, 'OAuth code exchange failed');
    if (reply.kind === 'refused') throw failed(`${plan.provider} refused the connection: ${reply.reason}.`);
    const message = `${plan.provider} cannot be reached (${reply.reason}). Start again soon.`;
    throw new ApiError('UNAVAILABLE', { message, retryAfterS: 5 });
  }

  /** Throws 404 if it does not exist and 422 if it cannot be connected. */
  async function requireTarget(tx: Db, orgId: string, { template_id, integration_id }: Named): Promise<Target> {
    const integration = integration_id === null ? undefined : await findIntegrationById(tx, orgId, integration_id);
    if (integration_id !== null && integration === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such integration.' });
    const template = await findTemplate(tx, orgId, integration?.template_id ?? template_id);
    if (template === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such integration template.' });
    const revision =
      integration === undefined
        ? await latestRevision(tx, orgId, template.id)
        : await findRevision(tx, orgId, template.id, integration.revision_number);
    if (revision === undefined) throw new Error(`template ${template.id} lost its revision`);
    const vendor = await requireVendor(template.vendor);
    const { connect } = vendor;
    if (connect === undefined)
      throw invalidFields([{ field: 'vendor', message: `${vendor.name} has no connect flow: enter its credentials` }]);
    const config = openStored(context, await organisationKey(tx, orgId), revision);
    const opened = integration && (await readParameters(tx, cipher, orgId, integration.pipeline_id));
    const { config: resolved, excess } = substitute(config, opened?.parameters ?? {});
    if (excess !== undefined) throw invalidFields([{ field: 'config', message: excess }]);
    const planned = connectPlan(connect, vendor, resolved, urlRules(context));
    if (!planned.ok) throw invalidFields(planned.faults.map(({ field, message }) => ({ field: `config.${field}`, message })));
    return { template, integration, vendor, connect, revision, config, plan: planned.plan };
  }

  return { start, take, finish };
}

export function failed(message: string): ApiError {
  return new ApiError('CONNECT_FAILED', { message });
}
/** 32 random bytes: also a valid PKCE verifier. */
function secret(): string {
  return randomBytes(32).toString('base64url');
}
function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
