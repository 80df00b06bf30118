/** The consent that one event carries, as processing will see it: for cookies, which have to be decided before that. */
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { applyConsent, type CompiledConsent, compileConsent } from '@firsthand/core/privacy/consent.ts';

const BY_DEFAULT = compileConsent(DEFAULT_DATA_LAYER.consent);

export function consentOf(
  body: JsonObject,
  batchContext: JsonObject | undefined,
  gpc: boolean,
  compiled: CompiledConsent | undefined,
): (category: string) => boolean {
  const sent = own(body, 'context');
  const context: JsonObject = { ...batchContext, ...(isObject(sent) ? (sent as JsonObject) : undefined) };
  if (gpc) context.gpc = true;
  const consent = own(context, 'consent');
  // A copy: the answer is written into it, and the client's own bytes are what is stored.
  if (isObject(consent)) context.consent = { ...(consent as JsonObject) };
  applyConsent({ event_id: '', type: 'track', timestamp: '', context }, compiled ?? BY_DEFAULT, []);
  const resolved = own(context, 'consent');
  const canonical = isObject(resolved) ? own(resolved, 'canonical') : undefined;
  return (category) => isObject(canonical) && own(canonical, category) === true;
}
