import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Page } from '../../components/page.tsx';
import { RangeSelect, useRange } from '../../components/range-select.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { number } from '../../format.ts';
import { pipelinesQuery } from '../../queries.ts';
import { Attention } from './attention.tsx';
import { FirstRun } from './first-run.tsx';
import { Numbers } from './numbers.tsx';
import { PipelineRates } from './pipeline-rates.tsx';

export function HomePage() {
  const range = useRange();
  const pipelines = useQuery(pipelinesQuery());
  const names = useMemo(() => new Map(pipelines.data?.pipelines.map(({ id, name }) => [id, name])), [pipelines.data]);
  if (pipelines.isPending) return <Loading what="your pipelines" />;
  if (pipelines.isError) return <Failed error={pipelines.error} retry={() => void pipelines.refetch()} />;
  if (pipelines.data.total === 0) return <FirstRun />;
  return (
    <Page title="Home" actions={<RangeSelect />}>
      <Numbers range={range} />
      <Attention names={names} />
      <PipelineRates pipelines={pipelines.data.pipelines} />
      {pipelines.data.total > pipelines.data.pipelines.length && <Link to="/pipelines">All {number(pipelines.data.total)} pipelines</Link>}
    </Page>
  );
}
