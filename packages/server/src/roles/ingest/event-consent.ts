/** The consent of one event, as processing will resolve it. Cookies are set with the reply, before processing. */
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { saysGpc } from '@firsthand/core/context/enrich.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { applyConsent, type CompiledConsent, compileConsent, isGranted } from '@firsthand/core/privacy/consent.ts';

const DEFAULT_CONSENT = compileConsent(DEFAULT_DATA_LAYER.consent);

export function consentOf(
  body: JsonObject,
  batchContext: JsonObject | undefined,
  gpc: boolean,
  compiled: CompiledConsent | undefined,
): (category: string) => boolean {
  const sent = own(body, 'context');
  const context: JsonObject = { ...batchContext, ...(isObject(sent) ? (sent as JsonObject) : undefined) };
  if (gpc || saysGpc(own(context, 'gpc'))) context.gpc = true;
  const consent = own(context, 'consent');
  // A copy, because `applyConsent` writes into it.
  if (isObject(consent)) context.consent = { ...(consent as JsonObject) };
  const rules = compiled ?? DEFAULT_CONSENT;
  applyConsent({ event_id: '', type: 'track', timestamp: '', context }, rules, []);
  const resolved = own(context, 'consent');
  const canonical = isObject(resolved) ? own(resolved, 'canonical') : undefined;
  return (name) => isObject(canonical) && isGranted(canonical as JsonObject, name, rules);
}
