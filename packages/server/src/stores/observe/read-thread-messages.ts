/** Messages between `ReadThread` and its thread. */
import type { SentError } from '../../runtime/sent-error.ts';
import type { SampleChunk } from './event-fields.ts';
import type { TraceFilter, TracePage } from './list-traces.ts';
import type { StatisticsQuery } from './statistics.ts';
import type { FoundTrace } from './traces.ts';

export interface Statement {
  sql: string;
  parameters: readonly unknown[];
}
export interface Answered {
  rows: unknown[];
  changes: number;
}
/** What the thread does, by name. Only plain data crosses. All but the last need the SQLite file. */
export interface ReadCalls {
  statement(statement: Statement): Answered;
  /** Statements of a transaction have a connection of their own, so that no other read sees what is not committed. */
  transactionStatement(statement: Statement): Answered;
  listTraces(filter: TraceFilter): Promise<TracePage>;
  findTrace(orgId: string, eventId: string, pipelineId?: string): Promise<FoundTrace | undefined>;
  statisticsJson(query: StatisticsQuery): Promise<Uint8Array>;
  collectFields(chunk: SampleChunk): string | undefined;
}
export type ReadCall = keyof ReadCalls;
export type ReadResult<C extends ReadCall> = Awaited<ReturnType<ReadCalls[C]>>;
export interface ReadRequest {
  id: number;
  call: ReadCall;
  parameters: unknown[];
}
export type ReadReply = { id: number } & ({ result: unknown } | { error: SentError });
