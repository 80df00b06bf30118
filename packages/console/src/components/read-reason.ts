/** Reads the vendor's status and its sentence for people from the reason of a failed delivery. */
export interface ReadReason {
  /** `400`, or a word such as `timeout`. */
  code: string | undefined;
  message: string;
  /** The vendor's whole answer where it is more than the message. */
  answer: string | undefined;
}

/** `http_400: {"error_user_msg": "…"}` → 400 and the sentence for people in it. */
export function readReason(reason: string): ReadReason {
  const [, code, rest = ''] = /^http_(\d{3})(?:: ?([\s\S]*))?$/.exec(reason) ?? [];
  if (code === undefined) return { code: undefined, message: reason.replaceAll('_', ' '), answer: undefined };
  try {
    const message = sentenceIn(JSON.parse(rest));
    if (message !== undefined) return { code, message, answer: rest };
  } catch {
    // Not JSON: the answer is the message.
  }
  return { code, message: rest === '' ? 'The vendor gave no reason.' : rest, answer: undefined };
}
const SENTENCES = ['error_user_msg', 'error_description', 'message', 'error_message', 'detail', 'title', 'error', 'errors', 'description'];
function sentenceIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (Array.isArray(value)) return sentenceIn(value[0]);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of SENTENCES) {
    const found = sentenceIn((value as Record<string, unknown>)[key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `Deliveries fail: http_503: {…}.` and `3 events became dead letters (http_400: {…}).` → the answer between its two ends. */
export function splitMessage(text: string): { before: string; reason?: string; after: string } {
  const [, before, reason, after] = /^(.*? \()(http_\d{3}.*)(\)\.?)$/s.exec(text) ?? /^(.*?: )(http_\d{3}.*?)(\.?)$/s.exec(text) ?? [];
  return before === undefined || reason === undefined || after === undefined ? { before: text, after: '' } : { before, reason, after };
}
