/**
 * Chained requests: a later request uses an earlier response (look up, then create or update). Every event walks the steps in
 * order. A step whose `when` does not hold is skipped; the verdict of a step that fails ends the attempt, and the next attempt
 * continues with that step.
 */
import { type CanonicalEvent, eventKey } from '../event/canonical.ts';
import type { Json } from '../json.ts';
import { compilePath } from '../path/path.ts';
import { parseBody } from './answers.ts';
import { utf8Length } from './bytes.ts';
import type { ConfigFault, RequestContext, TokenPlan, VendorItem, VendorReply, VendorRequest, Verdict } from './compiled.ts';
import type { RequestDefinition } from './definition.ts';
import { compileRequest, type RequestOptions } from './request.ts';
import { compileText, renderText } from './text.ts';

/** `when` is over `{key, event, payload, parameters, steps}`. `shape` may refer to `{{steps.NAME.KEY}}`. */
export interface ChainStep
  extends Pick<RequestDefinition, 'when' | 'method' | 'url' | 'headers' | 'query' | 'auth' | 'body' | 'answers' | 'items' | 'shape'> {
  name: string;
  /** Values of the response for later steps, `{{steps.NAME.KEY}}`: key → path in `{status, body, headers}`. */
  keep?: Record<string, string>;
  /** Equal keys reuse what an earlier event kept, without a request. Text. Nothing is remembered while `keep` found nothing. */
  remember?: { key: string; for_ms: number };
  /** A set-up call: sent for the first event only, again after a restart or a new revision. */
  once?: boolean;
}

/** Stored with a retry. */
export interface ChainProgress {
  /** The step that comes next. */
  at: number;
  steps: Record<string, Record<string, Json>>;
}
export interface NextStep {
  index: number;
  name: string;
  /** Where the result is remembered; undefined where the step is always sent. */
  memory: { key: string; for_ms: number } | undefined;
  once: boolean;
  token: TokenPlan | undefined;
  request(context: RequestContext): VendorRequest;
  read(reply: VendorReply, context: { now: number }): { verdict: Verdict; kept: Record<string, Json> };
}
export interface CompiledChain {
  items(payload: unknown, event: CanonicalEvent): { ok: true; items: VendorItem[] } | { ok: false; reason: string };
  /** Undefined where the chain is done. Throws where the request cannot be built. */
  next(item: VendorItem, progress: ChainProgress): NextStep | undefined;
}

export const CHAIN_START: ChainProgress = { at: 0, steps: {} };
/** Longer values are no ids. */
const MAX_KEPT_CHARS = 1_000;

type ChainPayload = { event: CanonicalEvent; payload: unknown };

export function compileChain(
  steps: readonly ChainStep[],
  options: Omit<RequestOptions, 'where' | 'url_at' | 'index'>,
  faults: ConfigFault[],
): CompiledChain {
  const { parameters } = options;
  const compiled = steps.map((step, index) => {
    const where = `chain[${index}]`;
    return {
      step,
      request: compileRequest(step, { ...options, batching: false, where, url_at: `${where}.url`, index }, faults),
      keep: compileKeep(step.keep ?? {}, `${where}.keep`, faults),
      memoryKey: step.remember && compileText(step.remember.key, parameters),
    };
  });
  return {
    items(payload, event) {
      const item: ChainPayload = { event, payload };
      // A lane per event: steps of two events never share a request.
      return {
        ok: true,
        items: [{ lane: event.event_id, payload: item, size: utf8Length(JSON.stringify(payload)), event_id: event.event_id }],
      };
    },
    next(item, progress) {
      const { event, payload } = item.payload as ChainPayload;
      const root = { key: eventKey(event), event, payload, parameters, steps: progress.steps };
      for (const [index, { step, request, keep, memoryKey }] of compiled.entries()) {
        if (index < progress.at || !request.fits(root)) continue;
        const built = request.items(payload, event, { steps: progress.steps });
        if (!built.ok) throw new Error(built.reason);
        // A step without a body still needs its one item, for the references in its URL.
        if (built.items.length === 0) continue;
        const sources = { event, payload, steps: progress.steps };
        const key = step.once ? `once ${step.name}` : memoryKey && `${step.name} ${renderText(memoryKey, sources)}`;
        return {
          index,
          name: step.name,
          memory: key === undefined ? undefined : { key, for_ms: step.remember?.for_ms ?? Number.POSITIVE_INFINITY },
          once: step.once === true,
          token: request.auth.token,
          request: (context) => request.request(built.items, { ...context, steps: progress.steps }),
          read: (reply, context) => ({ verdict: request.read(reply, built.items, context), kept: keep(reply) }),
        };
      }
      return undefined;
    },
  };
}

/** What a preview shows: later requests depend on the answers. */
export function firstRequest(chain: CompiledChain, [item]: VendorItem[], context: RequestContext): VendorRequest | undefined {
  return item && chain.next(item, CHAIN_START)?.request(context);
}

function compileKeep(keep: Record<string, string>, where: string, faults: ConfigFault[]): (reply: VendorReply) => Record<string, Json> {
  const getters = Object.entries(keep).flatMap(([name, text]) => {
    const path = compilePath(text);
    if (path.ok) return [[name, path.get] as const];
    faults.push({ field: `${where}.${name}`, message: path.message });
    return [];
  });
  return (reply) => {
    const answer = { status: reply.status, headers: reply.headers, body: parseBody(reply.body) };
    const kept: Record<string, Json> = {};
    for (const [name, get] of getters) {
      const value = get(answer);
      if (
        typeof value === 'string' ? value !== '' && value.length <= MAX_KEPT_CHARS : typeof value === 'number' || typeof value === 'boolean'
      )
        kept[name] = value as Json;
    }
    return kept;
  };
}
