/** Which revision built the request of an event, and what may differ between that request and the one that is rebuilt here. */
interface Sent {
  revision_number: number | null;
  attempts: readonly { at: string; duration_ms: number | null; revision_number: number | null }[];
}
/** The attempts that one revision built. Without attempts nothing was sent. */
export interface SentBy {
  /** Null where it was not recorded. */
  revision: number | null;
  /** Counted from 1. */
  attempts: number[];
  /** When the last of them was sent, milliseconds since 1970. Undefined where nothing was sent. */
  at: number | undefined;
}

/** One entry per revision, in the order of the first attempt. */
export function sentBy({ revision_number, attempts }: Sent): SentBy[] {
  if (attempts.length === 0) return [{ revision: revision_number, attempts: [], at: undefined }];
  const found = new Map<number | null, SentBy>();
  for (const [index, { revision_number: revision, at, duration_ms }] of attempts.entries()) {
    const numbers = found.get(revision)?.attempts ?? [];
    found.set(revision, { revision, attempts: [...numbers, index + 1], at: Date.parse(at) - (duration_ms ?? 0) });
  }
  return [...found.values()];
}

/** Who built the request that is shown. */
export function builtBy({ revision, attempts }: SentBy, pinned: number): string {
  const sent = attempts.length > 0;
  const which = sent ? ` Attempt ${attempts.join(', ')}.` : ' Nothing was sent.';
  if (revision === null)
    return sent
      ? `Built by revision ${pinned}, which is pinned now: the revision that sent it was not recorded.${which}`
      : `Built by revision ${pinned}, which is pinned now.${which}`;
  const role = sent ? 'which sent it' : 'which decided about it';
  return `Built by revision ${revision}, ${role}.${revision === pinned ? '' : ` Revision ${pinned} is pinned now.`}${which}`;
}

export interface BuildFacts {
  /** The config has parameters of the pipeline. */
  usesParameters: boolean;
  /** When the pipeline was last changed. */
  pipelineChangedAt: string;
  /** The vendor takes several events in one request. */
  isBatched: boolean;
  /** A batch keeps its rows when it is sent again, also after a change of the configuration. */
  keepsBatches: boolean;
}
/** What may differ from the request that the vendor got. */
export function differencesOf({ at }: SentBy, facts: BuildFacts): string[] {
  const changedSince = at !== undefined && Date.parse(facts.pipelineChangedAt) > at;
  return [
    'Secrets are masked, and so signatures that are made with them differ.',
    ...(facts.usesParameters
      ? [
          changedSince
            ? 'The parameters of the pipeline are those of now: the pipeline was changed after it was sent.'
            : 'The parameters of the pipeline have not changed since.',
        ]
      : []),
    ...(facts.isBatched && at !== undefined
      ? ['The vendor takes batches: the real request may have held other events too, under the id of the batch.']
      : []),
    ...(facts.keepsBatches
      ? ['A batch that is sent again keeps its rows; its address and credentials are those of the newest revision.']
      : []),
    ...(at === undefined
      ? []
      : ['Times are those of the attempt. An upgrade of Firsthand may have changed how the vendor’s requests are built.']),
  ];
}
