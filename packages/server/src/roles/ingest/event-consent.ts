/** The consent of one event, as processing will resolve it. Cookies are set with the reply, before processing. */
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { saysGpc } from '@firsthand/core/context/enrich.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { type CompiledConsent, compileConsent, isGranted, resolveConsent } from '@firsthand/core/privacy/consent.ts';

const DEFAULT_CONSENT = compileConsent(DEFAULT_DATA_LAYER.consent);

export function consentOf(
  body: JsonObject,
  batchContext: JsonObject | undefined,
  gpc: boolean,
  compiled: CompiledConsent | undefined,
): (category: string) => boolean {
  const sent = own(body, 'context');
  // An event's own value replaces that of its batch, also if it is null. The rest of a batch's context is not looked at: it may be 32 KB, and
  // is read for each of 500 events.
  const said = (key: string) => (isObject(sent) && Object.hasOwn(sent, key) ? sent[key] : batchContext && own(batchContext, key));
  const context: JsonObject = {};
  for (const key of ['consent', 'consentManagement']) {
    const value = said(key);
    if (isObject(value)) context[key] = value as JsonObject;
  }
  if (gpc || saysGpc(said('gpc'))) context.gpc = true;
  const rules = compiled ?? DEFAULT_CONSENT;
  const { canonical } = resolveConsent(context, rules);
  return (name) => isGranted(canonical, name, rules);
}
