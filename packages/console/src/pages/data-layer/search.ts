import { useNavigate, useSearch } from '@tanstack/react-router';
import { isSample, type SampleKey } from './samples.ts';

/** What the address says of the page: the sample and its pipeline, and the open sections with commas between them. */
interface DataLayerSearch {
  sample: SampleKey;
  pipeline: string | undefined;
  open: string[];
}
interface Written {
  sample?: string;
  pipeline?: string;
  open?: string;
}
const OPEN = ['consent', 'pii_rules'];

export function useDataLayerSearch(): [search: DataLayerSearch, set: (next: Written) => void] {
  const { sample, pipeline, open } = useSearch({ strict: false }) as Written;
  const navigate = useNavigate();
  return [
    { sample: isSample(sample) ? sample : 'order', pipeline, open: open?.split(',') ?? OPEN },
    (next) => void navigate({ to: '.', search: (old: object) => ({ ...old, ...next }), replace: true } as never),
  ];
}
