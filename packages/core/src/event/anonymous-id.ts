/** Which visitor an event is of, as the client says. */
import { isObject, type JsonObject, own } from '../json.ts';
import { idText } from './canonicalise.ts';
import { MAX_NAME_LENGTH } from './validate.ts';

/** What the request says about the visitor of its events. */
export interface VisitorOfRequest {
  cookieId?: string | undefined;
  /** Of a batch: the context its events share. */
  context?: JsonObject | undefined;
}

export function anonymousIdOf(body: JsonObject, request: VisitorOfRequest): string | undefined {
  const given = idText(own(body, 'anonymousId'));
  if (given !== undefined) return asInCookie(given, request.cookieId);
  const context = own(body, 'context');
  const inContext = isObject(context) ? shortId(own(context, 'anonymousId')) : undefined;
  // An alias call names the visitor that it links: without an anonymous id, that is the previous id.
  return inContext ?? anonymousIdOfRequest(request) ?? idText(own(body, 'previousId'));
}
/**
 * The collector reads the cookie as it stands, where most ids look the same. One with other characters is percent-encoded there: without
 * this, the next reply would encode it again, and the visitor would have a new id on every page.
 */
export function asInCookie(id: string, cookieId: string | undefined): string {
  return cookieId !== undefined && id.includes('%') && id === encodeURIComponent(cookieId) ? cookieId : id;
}
/** The anonymous id of events that have none of their own. */
export function anonymousIdOfRequest({ context, cookieId }: VisitorOfRequest): string | undefined {
  return (context && shortId(own(context, 'anonymousId'))) ?? cookieId;
}
function shortId(value: unknown): string | undefined {
  const id = idText(value);
  return id !== undefined && id.length <= MAX_NAME_LENGTH ? id : undefined;
}
