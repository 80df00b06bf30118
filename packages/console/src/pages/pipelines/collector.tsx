/** The browser collector: what it is built with, its state and size, and the tag that loads it. */
import { Alert, Button, Group, NumberInput, Select, Stack, Switch, Table, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { bytes, dateTime } from '../../format.ts';
import { failureText, fieldErrors } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { bundleSizes, type SourceMap } from './bundle-sizes.ts';
import classes from './consent.module.css';

const PROVIDERS = ['auto', 'onetrust', 'cookiebot', 'usercentrics', 'didomi', 'osano', 'tcf', 'google_consent_mode', 'custom'];

interface BuilderConfig {
  script_filename: string;
  global_variable: string;
  delivery_method: 'download' | 'cdn' | 'cluster';
  vendor_syncs: Record<string, { enabled?: boolean; consent_category?: string }>;
  consent_config: { provider?: string; wait_ms?: number; required_category?: string };
  cross_domain: boolean;
}
interface PipelineOfCollector {
  id: string;
  js_builder_config: BuilderConfig;
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

function CollectorForm({ pipeline }: { pipeline: PipelineOfCollector }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const { js_builder_config: config } = pipeline;
  const form = useForm({
    initialValues: {
      script_filename: config.script_filename,
      global_variable: config.global_variable,
      delivery_method: config.delivery_method,
      cross_domain: config.cross_domain,
      provider: config.consent_config.provider ?? null,
      wait_ms: config.consent_config.wait_ms ?? ('' as number | ''),
      required_category: config.consent_config.required_category ?? '',
      vendor_syncs: Object.keys(config.vendor_syncs).join(', '),
    },
  });
  useUnsaved(form.isDirty());
  const save = useMutation({
    mutationFn: (values: typeof form.values) => {
      const { provider, wait_ms, required_category, vendor_syncs, ...plain } = values;
      const names = vendor_syncs
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
      const js_builder_config = {
        ...config,
        ...plain,
        vendor_syncs: Object.fromEntries(names.map((name) => [name, config.vendor_syncs[name] ?? { enabled: true }])),
        consent_config: {
          ...(provider === null ? {} : { provider }),
          ...(wait_ms === '' ? {} : { wait_ms }),
          ...(required_category.trim() === '' ? {} : { required_category: required_category.trim() }),
        },
      };
      return call(
        api.PUT('/v1/admin/pipelines/{id}', {
          params: { path: { id: pipeline.id } },
          body: { js_builder_config: js_builder_config as never },
        }),
      );
    },
    onSuccess: async () => {
      form.resetDirty();
      notifications.show({ message: 'Saved. Pages get it with the next build.' });
      await queries.invalidateQueries({ queryKey: ['pipeline', pipeline.id] });
    },
    onError: (error) =>
      form.setErrors(
        // The API names fields inside `js_builder_config`; the form has them flat.
        Object.fromEntries(
          Object.entries(fieldErrors(error, 'script_filename')).map(([field, message]) => [field.split('.').at(-1) ?? field, message]),
        ),
      ),
  });
  return (
    <form className="panel" style={{ padding: 16 }} onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack gap="sm">
        <Title order={2}>Settings</Title>
        <Select
          label="Consent tool"
          description="Where the collector reads the visitor’s choice from."
          placeholder="none: consent is sent with each event"
          clearable
          disabled={!may}
          data={PROVIDERS.map((value) => ({ value, label: words(value) }))}
          {...form.getInputProps('provider')}
        />
        <NumberInput label="Wait for a choice, ms" min={0} max={60_000} disabled={!may} {...form.getInputProps('wait_ms')} />
        <TextInput
          label="Store ids on the device only with consent to"
          description="A category of the consent tool. Without that consent events are still sent, without cookies or storage. Empty: always."
          disabled={!may}
          {...form.getInputProps('required_category')}
        />
        <TextInput
          label="First-party ids of vendors"
          description="Read or made in the browser, for example: meta, google_analytics, tiktok"
          disabled={!may}
          {...form.getInputProps('vendor_syncs')}
        />
        <Switch
          label="Pass the visitor id between your domains"
          disabled={!may}
          {...form.getInputProps('cross_domain', { type: 'checkbox' })}
        />
        <Select
          label="Served"
          allowDeselect={false}
          disabled={!may}
          data={[
            { value: 'cdn', label: 'by a CDN in front of the service' },
            { value: 'cluster', label: 'by the service itself' },
            { value: 'download', label: 'by your own server' },
          ]}
          {...form.getInputProps('delivery_method')}
        />
        <TextInput label="File name" disabled={!may} {...form.getInputProps('script_filename')} />
        <TextInput label="Global variable" disabled={!may} {...form.getInputProps('global_variable')} />
        <Group>
          <Button
            type="submit"
            loading={save.isPending}
            disabled={!may || !form.isDirty()}
            title={may ? undefined : 'Needs the role editor'}
          >
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Build({ pipelineId }: { pipelineId: string }) {
  const queries = useQueryClient();
  const may = useMay('editor');
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
          <Button
            onClick={() => build.mutate()}
            loading={build.isPending || data.status === 'building'}
            disabled={!may}
            title={may ? undefined : 'Needs the role editor'}
          >
            {data.status === 'no_builds' ? 'Build it' : 'Build again'}
          </Button>
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
  if (!sizes.isSuccess) return null;
  const total = sizes.data.reduce((sum, [, size]) => sum + size, 0);
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Size by feature">
      <Title order={2} mb="xs">
        Size by feature
      </Title>
      <Table withRowBorders={false} verticalSpacing={3}>
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
