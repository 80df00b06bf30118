/** The filters of the dead letters, as they stand in the address and as the API takes them. */
export interface DeadLettersSearch {
  pipeline?: string;
  integration?: string;
  source?: string;
  stage?: string;
  reason?: string;
  status?: string;
  selected?: string;
  tab?: string;
  /** Of the history to replay, ISO 8601; `events`: names with commas between them. */
  from?: string;
  to?: string;
  events?: string;
}
export const STAGES = ['ingest', 'webhook', 'processing', 'mapping', 'delivery'] as const;
export type Stage = (typeof STAGES)[number];

export interface Which {
  pipeline_id?: string;
  integration_id?: string;
  webhook_source_id?: string;
  stage?: Stage;
  reason?: string;
}
export function whichOf({ pipeline, integration, source, stage, reason }: DeadLettersSearch): Which {
  return {
    ...(pipeline === undefined ? {} : { pipeline_id: pipeline }),
    ...(integration === undefined ? {} : { integration_id: integration }),
    ...(source === undefined ? {} : { webhook_source_id: source }),
    ...(STAGES.includes(stage as Stage) ? { stage: stage as Stage } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}
