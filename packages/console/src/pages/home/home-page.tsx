import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Page } from '../../components/page.tsx';
import { RangeSelect, useRange } from '../../components/range-select.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { pipelinesQuery } from '../../queries.ts';
import { Attention } from './attention.tsx';
import { Numbers } from './numbers.tsx';
import { PipelineRates } from './pipeline-rates.tsx';
import { isComplete, NOTHING_YET, useSetup } from './setup.ts';
import { Traffic } from './traffic.tsx';

const FirstRun = lazy(async () => ({ default: (await import('./first-run.tsx')).FirstRun }));

/** Remembered by this browser: somebody who needs no integration is not asked for one again. */
const SKIPPED = 'firsthand-first-run-skipped';

export function HomePage() {
  const range = useRange();
  const pipelines = useQuery(pipelinesQuery());
  const [skipped, setSkipped] = useState(() => localStorage.getItem(SKIPPED) !== null);
  /** The steps stay until the reader leaves the page, also when the last one is done. */
  const [guiding, setGuiding] = useState(false);
  const only = pipelines.data?.total === 1 ? pipelines.data.pipelines[0] : undefined;
  const setup = useSetup(skipped ? undefined : only?.id);
  if (pipelines.isPending) return <Loading what="your pipelines" />;
  if (pipelines.isLoadingError) return <Failed error={pipelines.error} retry={() => void pipelines.refetch()} />;
  const unfinished = pipelines.data.total === 0 || (!skipped && setup !== undefined && !isComplete(setup));
  if (unfinished && !guiding) setGuiding(true);
  if (unfinished || (guiding && !skipped && only !== undefined))
    return (
      <Suspense fallback={<Loading what="the first steps" />}>
        <FirstRun
          pipeline={only}
          setup={setup ?? NOTHING_YET}
          onLeave={() => {
            localStorage.setItem(SKIPPED, 'yes');
            setSkipped(true);
          }}
        />
      </Suspense>
    );
  return (
    <Page title="Home" actions={<RangeSelect />}>
      <Numbers range={range} />
      <Attention />
      <Traffic range={range} />
      <PipelineRates />
    </Page>
  );
}
