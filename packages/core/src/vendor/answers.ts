/** Reads a vendor's answer: the definition's rules in order, then the default rule. */
import { compileCondition } from '../filter/condition.ts';
import { isObject } from '../json.ts';
import { compilePath } from '../path/path.ts';
import type { Prepared } from './assemble.ts';
import type { ConfigFault, VendorItem, VendorReply, Verdict } from './compiled.ts';
import type { AnswerRule, PartialRule } from './definition.ts';
import { retryAfterMs } from './retry-after.ts';

type Single = Exclude<Verdict, { kind: 'partial' }>;
type Answer = { status: number; body: unknown; headers: Record<string, string> };
type Getter = (root: unknown) => unknown;
export type ReadAnswer = (reply: VendorReply, items: VendorItem[], context: { now: number }) => Verdict;

const MAX_REASON = 300;

export interface AnswerOptions {
  where: string;
  /** For vendors with a token, 401 means that it is no longer valid, unless a rule says otherwise. */
  has_token: boolean;
  /** Removes secrets from the vendor's message. */
  scrub(text: string): string;
}

export function compileAnswers(rules: readonly AnswerRule[], options: AnswerOptions, faults: ConfigFault[]): ReadAnswer {
  const compiled = rules.map((rule, index) => compileRule(rule, `${options.where}[${index}]`, options, faults));
  return (reply, items, { now }) => {
    const answer: Answer = { status: reply.status, body: parseBody(reply.body), headers: reply.headers };
    for (const rule of compiled) {
      const verdict = rule(answer, items, now);
      if (verdict) return verdict;
    }
    return defaultVerdict(answer, now, options);
  };
}

export function parseBody(text: string): unknown {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function defaultVerdict({ status, headers, body }: Answer, now: number, options: AnswerOptions): Verdict {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = describe(status, plainMessage(body), options);
  if (status === 401 && options.has_token) return { kind: 'unavailable', reason, refresh_token: true };
  if (status === 429 || status >= 500) return unavailable(reason, retryAfterMs(headers['retry-after'], now));
  return { kind: 'refused', reason };
}

type CompiledRule = (answer: Answer, items: VendorItem[], now: number) => Verdict | undefined;

function compileRule(rule: AnswerRule, where: string, options: AnswerOptions, faults: ConfigFault[]): CompiledRule {
  const fits = compileStatus(rule.status, `${where}.status`, faults);
  const condition = rule.when === undefined ? undefined : compileCondition(rule.when, `${where}.when`);
  if (condition && !condition.ok) faults.push(...condition.faults);
  const test = condition?.ok ? condition.test : undefined;
  const reasonOf = getter(rule.reason, `${where}.reason`, faults);
  const waitOf = getter(rule.retry_after?.path, `${where}.retry_after.path`, faults);
  const jobOf = getter(rule.job, `${where}.job`, faults);
  const readPartial = rule.partial ? compilePartial(rule.partial, `${where}.partial`, faults) : undefined;
  return (answer, items, now) => {
    if (!fits(answer.status) || (test && !test(answer))) return undefined;
    const said = reasonOf?.(answer);
    const reason = describe(answer.status, said === undefined ? plainMessage(answer.body) : words(said), options);
    const wait = () => {
      const from = rule.retry_after;
      const named = waitOf?.(answer) ?? (from?.header ? answer.headers[from.header.toLowerCase()] : answer.headers['retry-after']);
      return retryAfterMs(named, now) ?? from?.ms;
    };
    switch (rule.verdict) {
      case 'delivered':
        return rule.reason === undefined ? { kind: 'delivered' } : { kind: 'delivered', note: reason };
      case 'accepted': {
        // In a poll: the job still runs.
        if (rule.job === undefined) return { kind: 'accepted', job: '' };
        const job = jobOf?.(answer);
        // Without an id there is nothing to ask for: the next rule decides.
        return job === undefined || job === null || job === '' ? undefined : { kind: 'accepted', job: String(job) };
      }
      case 'refused':
        if (rule.isolate && items.length > 1) return { kind: 'unavailable', reason, isolate: true };
        return { kind: 'refused', reason };
      case 'unavailable':
        return unavailable(reason, wait());
      case 'refresh_token':
        return { kind: 'unavailable', reason, refresh_token: true };
      case 'partial':
        return readPartial?.(answer, items, { say: (entry) => describe(answer.status, words(entry), options), wait });
    }
  };
}

function compileStatus(status: AnswerRule['status'], where: string, faults: ConfigFault[]): (status: number) => boolean {
  if (status === undefined) return () => true;
  if (!Array.isArray(status)) {
    faults.push({ field: where, message: 'must be a list of statuses' });
    return () => false;
  }
  const exact = new Set<number>();
  const families = new Set<number>();
  status.forEach((one, index) => {
    const text = String(one);
    if (/^[1-5]xx$/.test(text)) families.add(Number(text[0]));
    else if (/^[1-5]\d\d$/.test(text)) exact.add(Number(text));
    else faults.push({ field: `${where}[${index}]`, message: 'must be a status such as 200 or "2xx"' });
  });
  return (code) => exact.has(code) || families.has(Math.floor(code / 100));
}

function getter(path: string | undefined, where: string, faults: ConfigFault[]): Getter | undefined {
  if (path === undefined) return undefined;
  const compiled = compilePath(path);
  if (compiled.ok) return compiled.get;
  faults.push({ field: where, message: compiled.message });
  return undefined;
}

interface Telling {
  say(entry: unknown): string;
  wait(): number | undefined;
}
type ReadPartial = (answer: Answer, items: VendorItem[], telling: Telling) => Verdict | undefined;

/** Undefined if the answer names no item: the next rule decides. */
function compilePartial(rule: PartialRule, where: string, faults: ConfigFault[]): ReadPartial {
  const errorsOf = getter(rule.errors, `${where}.errors`, faults);
  const indexOf = getter(rule.index, `${where}.index`, faults);
  const keyOf = rule.key === '$' ? (entry: unknown) => entry : getter(rule.key, `${where}.key`, faults);
  const reasonOf = getter(rule.reason, `${where}.reason`, faults);
  const resultsOf = getter(rule.results, `${where}.results`, faults);
  const lists = (rule.indexes ?? []).map((path, i) => getter(path, `${where}.indexes[${i}]`, faults));
  const keyLists = (rule.keys ?? []).map((path, i) => getter(path, `${where}.keys[${i}]`, faults));
  const accepted = rule.accepted === undefined ? undefined : compileCondition(rule.accepted, `${where}.accepted`);
  if (accepted && !accepted.ok) faults.push(...accepted.faults);
  const permanent = rule.permanent === undefined ? undefined : compileCondition(rule.permanent, `${where}.permanent`);
  if (permanent && !permanent.ok) faults.push(...permanent.faults);
  const reasonIn = (entry: unknown) => (reasonOf ? (reasonOf(entry) ?? entry) : entry);
  return (answer, items, { say, wait }) => {
    const failed = new Map<number, unknown>();
    const refused = new Set<number>();
    const note = (index: unknown, entry: unknown, whole?: unknown) => {
      const at = typeof index === 'string' && /^\d+$/.test(index) ? Number(index) : index;
      if (typeof at !== 'number' || !Number.isInteger(at) || at < 0 || at >= items.length || failed.has(at)) return;
      failed.set(at, entry);
      if (permanent?.ok && permanent.test(whole)) refused.add(at);
    };
    const byKey = keyOf || keyLists.length > 0 ? indexesByKey(items) : undefined;
    const noteKey = (key: unknown, entry: unknown) => {
      if (typeof key === 'string' || typeof key === 'number') for (const index of byKey?.get(String(key)) ?? []) note(index, entry);
    };
    for (const entry of flatList(errorsOf?.(answer))) {
      if (indexOf) note(indexOf(entry), reasonIn(entry), entry);
      if (keyOf) noteKey(keyOf(entry), reasonIn(entry));
    }
    const whole = () => reasonOf?.(answer) ?? plainMessage(answer.body);
    for (const list of lists) for (const index of numbersIn(list?.(answer))) note(index, whole());
    for (const list of keyLists) for (const key of keysIn(list?.(answer))) noteKey(key, whole());
    listOf(resultsOf?.(answer)).forEach((entry, index) => {
      if (accepted?.ok && !accepted.test(entry)) note(index, reasonIn(entry), entry);
    });
    if (failed.size === 0) return undefined;
    const verdicts: Single[] = items.map((_, index) => {
      if (!failed.has(index))
        return rule.others === 'delivered'
          ? { kind: 'delivered' }
          : { kind: 'unavailable', reason: say('sent together with rejected items') };
      const reason = say(failed.get(index));
      return rule.failed === 'refused' || refused.has(index) ? { kind: 'refused', reason } : unavailable(reason, wait());
    });
    return { kind: 'partial', items: verdicts };
  };
}

function indexesByKey(items: readonly VendorItem[]): Map<string, number[]> {
  const known = new Map<string, number[]>();
  for (const [index, { payload }] of items.entries()) {
    for (const key of (payload as Prepared | null)?.keys ?? []) known.set(key, [...(known.get(key) ?? []), index]);
  }
  return known;
}

/** The entries of a list, or the names in an object. */
function keysIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flat(3);
  return isObject(value) ? Object.keys(value) : [];
}

/** `[*]` inside `[*]` gives lists in lists. */
function flatList(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flat(3).filter((entry) => entry !== undefined && entry !== null) : [];
}

/** One entry per item, in order. An empty entry keeps its place; an entry that is a list stays whole. */
function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (Array.isArray(value)) return value.flatMap(numbersIn);
  return isObject(value) ? Object.values(value).flatMap(numbersIn) : [];
}

function unavailable(reason: string, retry_after_ms: number | undefined): Single {
  return retry_after_ms === undefined ? { kind: 'unavailable', reason } : { kind: 'unavailable', reason, retry_after_ms };
}

/** The message, under the names that vendors usually give it. */
function plainMessage(body: unknown): string {
  if (typeof body === 'string') return body;
  if (!isObject(body)) return '';
  const error = body.error ?? body.errors ?? body.message;
  return words(isObject(error) ? (error.message ?? error) : error);
}

function words(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function describe(status: number, message: string, options: AnswerOptions): string {
  const text = options.scrub(message).replace(/\s+/g, ' ').trim().slice(0, MAX_REASON);
  return text === '' ? `http_${status}` : `http_${status}: ${text}`;
}
