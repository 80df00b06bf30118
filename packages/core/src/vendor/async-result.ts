/**
 * Asynchronous results: the vendor accepts a batch as a job (an answer rule with `verdict: accepted`) and says later what became
 * of it. The job is polled until there is a verdict, or until `within_ms` have passed.
 */
import type { ConfigFault, RequestContext, TokenPlan, VendorItem, VendorReply, VendorRequest, Verdict } from './compiled.ts';
import type { AnswerRule, RequestDefinition } from './definition.ts';
import { compileRequest, type RequestOptions } from './request.ts';

export interface PollDefinition {
  method?: string;
  /** Text; `{{job.id}}` is what the `accepted` rule found. Sent with the auth of the request that was accepted. */
  url: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  /** `accepted` means that the job is still running. A poll that fails is repeated and costs the events no attempt. */
  answers: AnswerRule[];
  /** Wait before the first poll, and between two polls. */
  first_ms: number;
  every_ms: number;
  /** Without a result after this time the events become dead letters. */
  within_ms: number;
}
export interface CompiledPoll extends Pick<PollDefinition, 'first_ms' | 'every_ms' | 'within_ms'> {
  token: TokenPlan | undefined;
  request(items: VendorItem[], context: RequestContext): VendorRequest;
  read(reply: VendorReply, items: VendorItem[], context: { now: number }): Verdict;
}

export function compilePoll(request: RequestDefinition, options: RequestOptions, faults: ConfigFault[]): CompiledPoll | undefined {
  const { poll } = request;
  if (poll === undefined) return undefined;
  const { first_ms, every_ms, within_ms, answers, method = 'GET', url } = poll;
  const where = `${options.where}.poll`;
  const definition: RequestDefinition = {
    method,
    url,
    body: { kind: 'none' },
    answers,
    ...(poll.headers ? { headers: poll.headers } : {}),
    ...(poll.query ? { query: poll.query } : {}),
    ...(request.auth ? { auth: request.auth } : {}),
  };
  const compiled = compileRequest(definition, { ...options, batching: false, where, url_at: `${where}.url` }, faults);
  return { first_ms, every_ms, within_ms, token: compiled.auth.token, request: compiled.request, read: compiled.read };
}
