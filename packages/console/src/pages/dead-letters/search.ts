/** The filters of the dead letters, as they stand in the address and as the API takes them. */
import { readLoose } from '../../components/loose-value.ts';
import { limitsOf } from '../../time-range.ts';

export interface DeadLettersSearch {
  pipeline?: string;
  integration?: string;
  source?: string;
  stage?: string;
  reason?: string;
  status?: string;
  /** When they failed. Without it, all that are kept. */
  range?: string;
  selected?: string;
  tab?: string;
  /** Of the history to replay, ISO 8601; `events`: names, see `readNames`. */
  from?: string;
  to?: string;
  events?: string;
}
/** Names with commas between them, or a JSON list where one has a comma itself. */
export function readNames(text: string): string[] {
  const value = readLoose(text);
  return Array.isArray(value) ? value.map(String) : text.split(',');
}
export const writeNames = (names: readonly string[]): string =>
  names.some((name) => name.includes(',') || name.startsWith('[')) ? JSON.stringify(names) : names.join(',');

export const STAGES = ['ingest', 'webhook', 'processing', 'mapping', 'delivery'] as const;
export type Stage = (typeof STAGES)[number];
/** Every stage after an event was accepted: the statistics count these as dead letters, and the others as rejected. */
export const ACCEPTED = 'accepted';
const ACCEPTED_STAGES = 'processing,mapping,delivery';

export const STATUSES = ['pending', 'replayed', 'all'] as const;
export type Status = (typeof STATUSES)[number];
export const statusOf = ({ status }: DeadLettersSearch): Status => STATUSES.find((each) => each === status) ?? 'pending';

/** The dead letters that a number of the statistics counts. */
export const countedSearch = (owner: Pick<DeadLettersSearch, 'pipeline' | 'integration'>, range: string): DeadLettersSearch => ({
  ...owner,
  stage: ACCEPTED,
  status: 'all',
  range,
});

/** Without times, so that it can be a query's key; `filterOf` adds them. */
export interface Which {
  pipeline_id?: string;
  integration_id?: string;
  webhook_source_id?: string;
  stage?: Stage;
  stages?: string;
  reason?: string;
  range?: string;
}
export function whichOf({ pipeline, integration, source, stage, reason, range }: DeadLettersSearch): Which {
  return {
    ...(pipeline === undefined ? {} : { pipeline_id: pipeline }),
    ...(integration === undefined ? {} : { integration_id: integration }),
    ...(source === undefined ? {} : { webhook_source_id: source }),
    ...(STAGES.includes(stage as Stage) ? { stage: stage as Stage } : stage === ACCEPTED ? { stages: ACCEPTED_STAGES } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(range !== undefined && limitsOf(range) !== undefined ? { range } : {}),
  };
}
/** As the API takes it now. */
export function filterOf({ range, ...which }: Which) {
  return { ...which, ...(range === undefined ? {} : limitsOf(range)) };
}
