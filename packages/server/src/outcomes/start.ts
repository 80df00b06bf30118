import type { Settings } from '../config.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Leases } from '../stores/leases/port.ts';
import { startEraser } from './erasures.ts';
import { hideSpanSecrets } from './hide-span-secrets.ts';
import { type RecorderDeps, startRecorder } from './recorder.ts';
import { RowWriter } from './row-writer.ts';
import { type SweeperDeps, startSweeper } from './sweeper.ts';

export interface OutcomesDeps extends Omit<SweeperDeps, 'rowWriter' | 'settings'> {
  leases: Leases;
  metrics: Metrics;
  settings: SweeperDeps['settings'] & Pick<Settings, 'databaseUrl' | 'dataDir' | 'otelTraceRatio'>;
  telemetry: RecorderDeps['telemetry'];
  /** False leaves outcomes in the log: a benchmark measures what recording costs. */
  record: boolean;
}

/** Records outcomes as traces and statistics, and removes what has aged out. Both write through one thread. */
export function startOutcomes({ leases, metrics, telemetry, record, ...deps }: OutcomesDeps): { stop(): Promise<void> } {
  const { log, logger, settings } = deps;
  const { databaseUrl, dataDir, otelTraceRatio } = settings;
  const rowWriter = new RowWriter({ databaseUrl, dataDir, spanRatio: telemetry && otelTraceRatio }, (error) =>
    logger.warn({ err: error }, 'database connection lost'),
  );
  const hidden: RecorderDeps['telemetry'] = telemetry && {
    addSpans: (spans) => telemetry.addSpans(spans.map((span) => hideSpanSecrets(deps.snapshots.current(), span))),
  };
  const recorder = record ? startRecorder({ log, leases, rowWriter, logger, metrics, telemetry: hidden }) : undefined;
  const sweeper = startSweeper({ ...deps, rowWriter });
  const eraser = startEraser({ log, leases, rowWriter, logger });
  return {
    async stop() {
      await Promise.all([recorder?.stop(), sweeper.stop(), eraser.stop()]);
      await rowWriter.stop();
    },
  };
}
