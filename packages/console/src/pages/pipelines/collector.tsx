import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { bytes, dateTime } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';

interface PipelineOfCollector {
  id: string;
  pipeline_key: string;
  js_builder_config: { script_filename?: string; global_variable?: string };
}

export function CollectorTab({ pipeline }: { pipeline: PipelineOfCollector }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const status = useQuery({
    queryKey: ['collector', pipeline.id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/status', { params: { path: { id: pipeline.id } } })),
    refetchInterval: ({ state }) => (state.data?.status === 'building' ? 1_000 : false),
  });
  const build = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/pipelines/{id}/collector/build', { params: { path: { id: pipeline.id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['collector', pipeline.id] }),
    onError: (error) => notifications.show({ color: 'red', title: 'The build did not start', message: failureText(error) }),
  });
  if (status.isPending) return <Loading what="the collector" />;
  if (status.isError) return <Failed error={status.error} retry={() => void status.refetch()} />;
  const { script_filename = 'd.js', global_variable = '_df' } = pipeline.js_builder_config;
  const snippet = `<script async src="${location.origin}/c/${pipeline.pipeline_key}/${script_filename}" data-pipeline-key="${pipeline.pipeline_key}"></script>\n<script>\n  (window.${global_variable} = window.${global_variable} || []).push(['page']);\n</script>`;
  return (
    <section className="panel" style={{ padding: 16, maxWidth: 820 }}>
      <Group justify="space-between" mb="sm">
        <Group gap="xs">
          <Text fw={650}>Browser collector</Text>
          <Tag tone={toneOf(status.data.status)}>{words(status.data.status)}</Tag>
          {status.data.file_size_bytes !== undefined && <span className="dim">{bytes(status.data.file_size_bytes)}</span>}
          {status.data.built_at !== undefined && <span className="dim">built {dateTime(status.data.built_at)}</span>}
        </Group>
        <Button
          onClick={() => build.mutate()}
          loading={build.isPending || status.data.status === 'building'}
          disabled={!may}
          title={may ? undefined : 'Needs the role editor'}
        >
          {status.data.status === 'no_builds' ? 'Build it' : 'Build again'}
        </Button>
      </Group>
      <p className="dim">
        Put this before the end of the page’s head. The file is small, loads without blocking and is served from your own domain.
      </p>
      <Json value={snippet} label="Snippet for your pages" />
    </section>
  );
}
