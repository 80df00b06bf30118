/**
 * Limits that hold over all processes. One process keeps the account of a key; the others borrow a slice of its budget for half a second
 * and spend it locally, so a request never waits for another process. A process without a slice admits a few requests on credit while it
 * asks; they are charged to the account afterwards. With one process everything is local.
 *
 * The accounts live in memory. A keeper that dies takes its accounts along: until its heartbeat is missed, every process admits its equal
 * part of the limit.
 */

import type { Clock } from '../runtime/clock.ts';
import { randomText } from '../runtime/ids.ts';
import { WorkInterval } from '../runtime/work-interval.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import { type Limit, LimitAccount } from './limit-account.ts';
import { type Ask, type Grant, LoanDesk } from './loan-desk.ts';
import { Members } from './members.ts';

const SLICE_MS = 500;
/** Most of a budget that one slice takes. */
const SLICE_PART = 0.1;
/** Admitted while the first answer is awaited, as a part of the budget per second or window. */
const CREDIT_PART = 0.05;
/** Least time between two questions about a key. Grows with the number of processes, so that one keeper can answer all of them. */
const ASK_EVERY_MS = 20;
const ANSWER_WITHIN_MS = 300;
/** How long the equal part is used after a question without an answer. */
const ALONE_MS = 1_000;
/** After a process joined or left, a new account may continue that of another keeper. It starts with a tenth of its burst. */
const SETTLE_MS = 5_000;
const SWEEP_MS = 250;
const FORGET_MS = 60_000;

export interface Limiter {
  /** 0: admitted, and `tokens` are charged. Else the milliseconds to wait. A request is admitted while one token remains. */
  take(id: string, limit: Limit, tokens?: number): number;
  /** Charges tokens that an admitted request turned out to need beyond the first. */
  charge(id: string, limit: Limit, tokens: number): void;
}
export interface SharedLimits {
  /** `name` separates the keys of different uses. Without `credit` nothing is admitted before the keeper has answered. */
  limiter(name: string, options?: { credit?: boolean }): Limiter;
  stop(): void;
}

interface Loan {
  key: string;
  limit: Limit;
  credit: boolean;
  /** Borrowed and unspent. Negative: spent on credit and not reported yet. */
  tokens: number;
  sliceEnds: number;
  deniedUntil: number;
  aloneUntil: number;
  alone: LimitAccount | undefined;
  /** The usage that the question in flight reports, and when it was sent. */
  asked: { at: number; report: number } | undefined;
  lastAsk: number;
  /** Tokens wanted since the last question, granted or not. */
  wanted: number;
  usedAt: number;
  keeper: string;
  keeperVersion: number;
}

/** Without `ephemeral` this process is the only one. */
export function createSharedLimits(deps: { ephemeral?: Ephemeral; clock: Clock; random?: () => number }): SharedLimits {
  const { ephemeral = NO_OTHERS, clock, random = Math.random } = deps;
  const now = () => clock.monotonic();
  const members = new Members(ephemeral, randomText(12), now);
  const accounts = new Map<string, { account: LimitAccount; limit: Limit }>();
  const loans = new Map<string, Loan>();
  const desk = new LoanDesk(ephemeral, members.id, { serve, onGrants });

  function accountOf(key: string, limit: Limit, at: number): LimitAccount {
    let kept = accounts.get(key);
    if (kept === undefined) {
      const continues = members.size > 1 && at - members.changedAt < SETTLE_MS;
      accounts.set(key, (kept = { account: new LimitAccount(limit, at, continues), limit }));
      sweeps.wake();
    }
    kept.limit = limit;
    return kept.account;
  }
  function serve({ key, limit, report, want }: Ask): Grant {
    const at = now();
    const account = accountOf(key, limit, at);
    account.charge(limit, at, report);
    const granted = Math.max(0, Math.min(want, account.available(limit, at)));
    if (granted > 0) account.charge(limit, at, granted);
    return { key, granted, wait: account.wait(limit, at) };
  }

  function loanOf(key: string, limit: Limit, credit: boolean, at: number): Loan {
    let loan = loans.get(key);
    if (loan === undefined) {
      loan = {
        key,
        limit,
        credit,
        tokens: 0,
        sliceEnds: 0,
        deniedUntil: 0,
        aloneUntil: 0,
        alone: undefined,
        asked: undefined,
        lastAsk: Number.NEGATIVE_INFINITY,
        wanted: 0,
        usedAt: at,
        keeper: '',
        keeperVersion: -1,
      };
      loans.set(key, loan);
      sweeps.wake();
    }
    loan.limit = limit;
    loan.usedAt = at;
    if (loan.keeperVersion !== members.version) {
      loan.keeper = members.keeperOf(key);
      loan.keeperVersion = members.version;
    }
    return loan;
  }

  function ask(loan: Loan, at: number, want = wantOf(loan, at)): void {
    if (loan.asked !== undefined || at - loan.lastAsk < askEvery()) return;
    // Tokens that are left stay here while more are asked for.
    const report = want > 0 ? Math.max(0, -loan.tokens) : -loan.tokens;
    loan.tokens += report;
    loan.wanted = 0;
    loan.lastAsk = at;
    const question: Ask = { key: loan.key, limit: loan.limit, report, want };
    if (loan.keeper === members.id) apply(loan, serve(question), at);
    else {
      loan.asked = { at, report };
      desk.ask(loan.keeper, question);
    }
  }
  const askEvery = () => Math.max(ASK_EVERY_MS, members.size);

  /** The demand of the next half second, as far as a slice may go. */
  function wantOf(loan: Loan, at: number): number {
    const sinceAsk = Math.min(SLICE_MS, Math.max(1, at - loan.lastAsk));
    const expected = (loan.wanted / Math.max(sinceAsk, askEvery())) * SLICE_MS;
    return Math.max(1, Math.min(Math.round(expected), Math.floor(budgetOf(loan.limit) * SLICE_PART)));
  }

  function onGrants(grants: readonly Grant[]): void {
    const at = now();
    for (const grant of grants) {
      const loan = loans.get(grant.key);
      if (loan?.asked === undefined) continue;
      loan.asked = undefined;
      apply(loan, grant, at);
    }
  }
  function apply(loan: Loan, { granted, wait }: Grant, at: number): void {
    loan.tokens += granted;
    loan.sliceEnds = at + SLICE_MS;
    loan.aloneUntil = 0;
    if (loan.tokens >= 1 || wait === 0) return;
    // At random, so that no process is always the first after a refill.
    loan.deniedUntil = at + Math.max(wait, askEvery() * (0.5 + random()));
  }

  function take(loan: Loan, at: number, tokens: number): number {
    loan.wanted += tokens;
    if (loan.tokens < 1) {
      if (at < loan.deniedUntil) return loan.deniedUntil - at;
      if (at < loan.aloneUntil) return takeAlone(loan, at, tokens);
      ask(loan, at);
      if (at < loan.deniedUntil) return loan.deniedUntil - at;
    }
    const credit = loan.credit ? Math.max(1, budgetOf(loan.limit) * CREDIT_PART) : 0;
    if (loan.tokens < 1 && loan.tokens <= -credit) return askEvery();
    loan.tokens -= tokens;
    // Ask again before the slice is used up.
    if (loan.tokens < wantOf(loan, at) / 4) ask(loan, at, Math.ceil(wantOf(loan, at) - Math.max(0, loan.tokens)));
    return 0;
  }
  function takeAlone(loan: Loan, at: number, tokens: number): number {
    const part = partOf(loan.limit, members.size);
    loan.alone ??= new LimitAccount(part, at, true);
    const wait = loan.alone.wait(part, at);
    if (wait === 0) loan.alone.charge(part, at, tokens);
    return wait;
  }

  function sweep(): boolean {
    const at = now();
    for (const loan of loans.values()) {
      if (loan.asked !== undefined && at - loan.asked.at > ANSWER_WITHIN_MS) {
        loan.tokens -= loan.asked.report;
        loan.asked = undefined;
        loan.aloneUntil = at + ALONE_MS;
      }
      // Report what was spent on credit, and give back what is left of a slice.
      if (loan.tokens < 0 || (loan.tokens > 0 && at >= loan.sliceEnds)) {
        if (members.size === 1) loan.tokens = 0;
        else ask(loan, at, 0);
      }
      if (loan.tokens === 0 && loan.asked === undefined && at - loan.usedAt > FORGET_MS) loans.delete(loan.key);
    }
    for (const [key, { account }] of accounts) if (account.isIdle(at)) accounts.delete(key);
    return loans.size + accounts.size > 0;
  }
  const sweeps = new WorkInterval(SWEEP_MS, sweep);

  return {
    limiter(name, { credit = true } = {}) {
      /** Most calls are for the same id as the last one, and making and hashing a key costs more than the rest of a `take`. */
      let last = { id: '', key: `${name}.` };
      const keyOf = (id: string) => {
        if (id !== last.id) last = { id, key: `${name}.${id}` };
        return last.key;
      };
      return {
        take(id, limit, tokens = 1) {
          const at = now();
          const key = keyOf(id);
          if (members.size > 1) return take(loanOf(key, limit, credit, at), at, tokens);
          const account = accountOf(key, limit, at);
          const wait = account.wait(limit, at);
          if (wait === 0) account.charge(limit, at, tokens);
          return wait;
        },
        charge(id, limit, tokens) {
          const at = now();
          const key = keyOf(id);
          if (members.size === 1) {
            accountOf(key, limit, at).charge(limit, at, tokens);
            return;
          }
          const loan = loanOf(key, limit, credit, at);
          loan.tokens -= tokens;
          if (loan.tokens < 0) ask(loan, at);
        },
      };
    },
    stop() {
      sweeps.stop();
      desk.stop();
      members.stop();
    },
  };
}

const NO_OTHERS: Ephemeral = { publish() {}, subscribe: () => () => {}, close: async () => {} };

/** Tokens per second, or per window. */
function budgetOf(limit: Limit): number {
  return limit.kind === 'rate' ? limit.per_second : limit.most;
}
function partOf(limit: Limit, processes: number): Limit {
  if (limit.kind === 'window') return { ...limit, most: Math.max(1, Math.floor(limit.most / processes)) };
  return { ...limit, per_second: limit.per_second / processes, burst: Math.max(1, limit.burst / processes) };
}
