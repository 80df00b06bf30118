/** Which consent each integration needs, and what that means for one event. Rules for all pipelines stand on the data layer's page. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { Alert, Box, Checkbox, Group, Select, Table, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api, call } from '../../api.ts';
import { CATEGORIES } from '../../components/consent-category-select.tsx';
import { ConsentChange } from '../../components/delivery-change.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { RoleNote } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { integrationsQuery } from '../../queries.ts';
import { SAMPLE_BODY } from '../../sample-event.ts';
import { useMay } from '../../session/use-session.ts';
import { type Preview, previewDataLayer } from '../data-layer/preview.ts';
import { stepName } from '../events/step.tsx';
import classes from './consent.module.css';

const NONE = 'none';

export function ConsentTab({ pipelineId }: { pipelineId: string }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const integrations = useQuery(integrationsQuery(pipelineId));
  const dataLayer = useQuery({ queryKey: ['data-layer'], queryFn: () => call(api.GET('/v1/admin/data-layer', {})) });
  // The address holds to what the visitor agrees: all categories unless it says otherwise.
  const { agreed } = useSearch({ strict: false }) as { agreed?: string };
  const navigate = useNavigate();
  const setAgreed = (next: ReadonlySet<string>) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, agreed: [...next].join(',') || NONE }), replace: true } as never);
  const set = useMutation({
    mutationFn: ({ id, consent_category }: { id: string; consent_category: string | null }) =>
      call(
        api.PUT('/v1/admin/pipelines/{id}/integrations/{integration_id}', {
          params: { path: { id: pipelineId, integration_id: id } },
          body: { consent_category: consent_category as never },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['integrations', pipelineId] }),
    onError: (error) => notifications.show({ color: 'red', title: 'Not changed', message: failureText(error) }),
  });
  const ask = (id: string, name: string, category: string | null) =>
    openConfirmModal({
      title: category === null ? `Send ${name} events without consent?` : `Send ${name} only with consent to ${category}?`,
      children: <ConsentChange integrationId={id} category={category} />,
      labels: { confirm: category === null ? 'Send all events' : 'Change', cancel: 'Keep' },
      confirmProps: category === null ? { color: 'red' } : {},
      onConfirm: () => set.mutate({ id, consent_category: category }),
    });
  const config = dataLayer.data?.config as DataLayerConfig | undefined;
  // What the page's consent tool calls its categories; the mapping says what they mean here.
  const offered = Object.keys(config?.consent?.mapping ?? {});
  const chosen = new Set(agreed === undefined ? offered : agreed.split(','));
  const preview = usePreview(config, chosen);
  if (integrations.isPending || dataLayer.isPending) return <Loading what="consent" />;
  if (integrations.isLoadingError) return <Failed error={integrations.error} retry={() => void integrations.refetch()} />;
  if (dataLayer.isLoadingError) return <Failed error={dataLayer.error} retry={() => void dataLayer.refetch()} />;
  const granted = preview?.kind === 'ok' ? grantedIn(preview) : {};
  return (
    <div className={classes.columns}>
      <section className="panel" aria-label="Consent by integration" style={{ overflowX: 'auto' }}>
        <div style={{ padding: '0 12px' }}>
          <RoleNote needs="editor" />
        </div>
        {integrations.data.integrations.length === 0 ? (
          <Empty
            title="No integrations yet"
            action={
              <LinkButton to="/catalog" search={{ pipeline: pipelineId }}>
                Open the catalog
              </LinkButton>
            }
          >
            Once the pipeline has one, this table says which consent it needs.
          </Empty>
        ) : (
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Integration</Table.Th>
                <Table.Th>Needs consent to</Table.Th>
                <Table.Th visibleFrom="xs">This visitor’s event</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {integrations.data.integrations.map(({ id, name, consent_category }) => {
                const sent = consent_category === null || granted[consent_category] === true;
                const result =
                  preview?.kind === 'ok' && preview.dropped !== undefined ? (
                    <Tag tone="bad">dropped before: {words(preview.dropped)}</Tag>
                  ) : sent ? (
                    <Tag tone="ok">is sent</Tag>
                  ) : (
                    <Tag tone="warn">not sent: no {consent_category}</Tag>
                  );
                return (
                  <Table.Tr key={id}>
                    <Table.Td>
                      <Link to="/pipelines/$pipelineId" params={{ pipelineId }} search={{ tab: 'integrations', integration: id }}>
                        <b>{name}</b>
                      </Link>
                      {/* On a telephone the third column has no room. */}
                      <Box hiddenFrom="xs">{result}</Box>
                    </Table.Td>
                    <Table.Td>
                      <Select
                        size="xs"
                        miw={140}
                        maw={190}
                        aria-label={`Consent that ${name} needs`}
                        allowDeselect={false}
                        disabled={!may}
                        data={[{ value: NONE, label: 'none: all events' }, ...CATEGORIES]}
                        value={consent_category ?? NONE}
                        onChange={(next) => {
                          const category = next === NONE ? null : next;
                          if (category !== consent_category) ask(id, name, category);
                        }}
                      />
                    </Table.Td>
                    <Table.Td visibleFrom="xs">{result}</Table.Td>
                  </Table.Tr>
                );
              })}
            </Table.Tbody>
          </Table>
        )}
      </section>
      <section className="panel" style={{ padding: 16 }} aria-label="Effect on an event">
        <Title order={2}>A visitor who agrees to</Title>
        {offered.length === 0 ? (
          <Alert color="yellow" mt="sm">
            No consent mapping is set: the defaults decide. <Link to="/data-layer">Set it in the data layer</Link>
          </Alert>
        ) : (
          <Group mt="sm" gap="md">
            {offered.map((name) => (
              <Checkbox
                key={name}
                size="xs"
                label={name}
                checked={chosen.has(name)}
                onChange={({ currentTarget }) => {
                  const next = new Set(chosen);
                  if (currentTarget.checked) next.add(name);
                  else next.delete(name);
                  setAgreed(next);
                }}
              />
            ))}
          </Group>
        )}
        <Group gap={4} mt="sm">
          <span className="dim">This grants</span>
          {Object.entries(granted).map(([category, yes]) => (
            <Tag key={category} tone={yes ? 'ok' : 'neutral'}>
              {yes ? category : `no ${category}`}
            </Tag>
          ))}
        </Group>
        {preview?.kind === 'ok' && (
          <ul className={classes.steps}>
            {preview.decisions.map(({ step, result, changed = [] }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: decisions have an order and no id
              <li key={at}>
                <b>{stepName(step)}</b> {words(result)} <span className="mono dim">{changed.join(', ')}</span>
              </li>
            ))}
          </ul>
        )}
        <Text size="xs" c="var(--dim)" mt="sm">
          Consent mapping, bots, personal data and identity are set for all pipelines in the <Link to="/data-layer">data layer</Link>.
        </Text>
      </section>
    </div>
  );
}
function grantedIn(preview: Extract<Preview, { kind: 'ok' }>): Record<string, boolean> {
  const context = (preview.after.context ?? {}) as { consent?: { canonical?: Record<string, boolean> } };
  return context.consent?.canonical ?? {};
}

/** The sample order of a visitor with that consent, through the code that processes events. */
function usePreview(config: DataLayerConfig | undefined, given: ReadonlySet<string>): Preview | undefined {
  const [preview, setPreview] = useState<Preview>();
  const key = [...given].sort().join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the set
  useEffect(() => {
    if (config === undefined) return;
    let current = true;
    const categories = Object.fromEntries(Object.keys(config.consent?.mapping ?? {}).map((name) => [name, given.has(name)]));
    const body = { ...SAMPLE_BODY, context: { ...SAMPLE_BODY.context, consent: { categories } } };
    void previewDataLayer(config, JSON.stringify(body)).then((next) => current && setPreview(next));
    return () => {
      current = false;
    };
  }, [config, key]);
  return preview;
}
