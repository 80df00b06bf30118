/** The browser collector: what it is built with, its state and size, and the tag that loads it. */
import { Alert, Group, Stack, Table, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { bytes, dateTime } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { bundleSizes, type SourceMap } from './bundle-sizes.ts';
import { CollectorForm } from './collector-form.tsx';
import type { BuilderConfig } from './collector-values.ts';
import classes from './consent.module.css';

interface PipelineOfCollector {
  id: string;
  js_builder_config: BuilderConfig;
  updated_at: string;
}

export function CollectorTab({ pipeline }: { pipeline: PipelineOfCollector }) {
  return (
    <div className={classes.columns}>
      <CollectorForm pipeline={pipeline} />
      <Stack gap="md">
        <Build pipelineId={pipeline.id} />
      </Stack>
    </div>
  );
}

function Build({ pipelineId }: { pipelineId: string }) {
  const queries = useQueryClient();
  const path = { id: pipelineId };
  const status = useQuery({
    queryKey: ['collector', pipelineId],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/status', { params: { path } })),
    refetchInterval: ({ state }) => (state.data?.status === 'building' ? 1_000 : false),
  });
  const hash = status.data?.version_hash;
  const snippet = useQuery({
    queryKey: ['snippet', pipelineId, hash],
    enabled: hash !== undefined,
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/snippet', { params: { path } })),
  });
  const build = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/pipelines/{id}/collector/build', { params: { path } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['collector', pipelineId] }),
    onError: (error) => notifications.show({ color: 'red', title: 'The build did not start', message: failureText(error) }),
  });
  if (status.isPending) return <Loading what="the collector" />;
  if (status.isLoadingError) return <Failed error={status.error} retry={() => void status.refetch()} />;
  const { data } = status;
  return (
    <>
      <section className="panel" style={{ padding: 16 }} aria-label="Build">
        <Group justify="space-between" mb="xs">
          <Group gap="xs">
            <Title order={2}>Build</Title>
            <Tag tone={toneOf(data.status)}>{words(data.status)}</Tag>
          </Group>
          <RoleButton needs="editor" onClick={() => build.mutate()} loading={build.isPending || data.status === 'building'}>
            {data.status === 'no_builds' ? 'Build it' : 'Build again'}
          </RoleButton>
        </Group>
        {data.built_at !== undefined && (
          <Text size="sm" c="var(--dim)">
            {bytes(data.file_size_bytes ?? 0)}, built {dateTime(data.built_at)}, version {data.version_hash}
          </Text>
        )}
        {data.error !== undefined && (
          <Alert color="red" mt="sm" title="The last build failed">
            {data.error}
          </Alert>
        )}
        {snippet.data !== undefined && (
          <>
            <p className="dim">Put this before the end of the page’s head. It loads without blocking.</p>
            <Json value={snippet.data.snippet} label="Snippet for your pages" />
          </>
        )}
        {snippet.isError && <Alert color="red">{failureText(snippet.error)}</Alert>}
      </section>
      {hash !== undefined && <Sizes pipelineId={pipelineId} hash={hash} />}
    </>
  );
}

/** `src/consent-tools.ts` → `consent tools`; what comes from no file is the pipeline's own settings. */
const featureOf = (source: string): string => (/(?:^|\/)src\/([^/.]+)/.exec(source)?.[1] ?? 'settings').replaceAll('-', ' ');

function Sizes({ pipelineId, hash }: { pipelineId: string; hash: string }) {
  const sizes = useQuery({
    queryKey: ['collector-sizes', pipelineId, hash],
    staleTime: Infinity,
    queryFn: async () => {
      const get = async (map?: '1') =>
        String(
          await call(
            api.GET('/v1/admin/pipelines/{id}/collector/download', {
              params: { path: { id: pipelineId }, query: map === undefined ? {} : { map } },
              parseAs: 'text',
            } as never) as never,
          ),
        );
      const [code, map] = [await get(), await get('1')];
      const byFeature = new Map<string, number>();
      for (const [source, size] of bundleSizes(JSON.parse(map) as SourceMap, code))
        byFeature.set(featureOf(source), (byFeature.get(featureOf(source)) ?? 0) + size);
      return [...byFeature].sort(([, a], [, b]) => b - a);
    },
  });
  if (sizes.isPending) return <Loading what="the sizes" />;
  if (sizes.isLoadingError) return <Failed error={sizes.error} retry={() => void sizes.refetch()} />;
  const total = sizes.data.reduce((sum, [, size]) => sum + size, 0);
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Size by feature">
      <Title order={2} mb="xs">
        Size by feature
      </Title>
      <Table withRowBorders={false} verticalSpacing={3} horizontalSpacing={0}>
        <Table.Tbody>
          {sizes.data.map(([feature, size]) => (
            <Table.Tr key={feature}>
              <Table.Td w={140}>{feature}</Table.Td>
              <Table.Td>
                <div
                  aria-hidden
                  style={{ height: 8, borderRadius: 4, background: 'var(--accent)', width: `${Math.max(1, (size / total) * 100)}%` }}
                />
              </Table.Td>
              <Table.Td w={80} ta="right">
                {bytes(size)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="xs" c="var(--dim)">
        Before compression.
      </Text>
    </section>
  );
}
