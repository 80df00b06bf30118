/** A vendor before anything is installed: its fields, what it maps, the mapping as a table; then the installation. */
import { Button, Modal, Select, Table, Tabs, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, call } from '../../api.ts';
import { Page } from '../../components/page.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { type VendorRequest, VendorRequests } from '../../components/vendor-requests.tsx';
import { useNewDialog } from '../../use-new-dialog.ts';
import classes from './catalog.module.css';
import { Install } from './install.tsx';
import { type Mapping, mappedEvents, restText, sourceText, transformNames, type VariantConfig } from './variant.ts';
import { VendorIcon } from './vendor-icon.tsx';

export const vendorQuery = (vendor: string) => ({
  queryKey: ['vendor', vendor],
  queryFn: () => call(api.GET('/v1/admin/integration-catalog/{vendor}', { params: { path: { vendor } } })),
  staleTime: 3_600_000,
});

export function VendorPage() {
  const { vendor: key } = useParams({ strict: false }) as { vendor: string };
  const { variant: chosen = 'default', pipeline } = useSearch({ strict: false }) as { variant?: string; pipeline?: string };
  const navigate = useNavigate();
  const [open, { open: show, close }] = useNewDialog('editor');
  const [all, setAll] = useState(false);
  const query = useQuery(vendorQuery(key));
  if (query.isPending) return <Loading what="the vendor" />;
  if (query.isLoadingError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  const vendor = query.data;
  const variant = vendor.variants.find((one) => one.key === chosen) ?? vendor.variants[0];
  const config = (variant?.default_config ?? {}) as VariantConfig;
  const events = mappedEvents(config);
  const global = config.global?.mappings ?? [];
  return (
    <Page
      title={vendor.name}
      marks={
        <>
          <VendorIcon vendor={vendor.key} name={vendor.name} />
          <Tag>{vendor.group.replaceAll('_', ' ')}</Tag>
          {vendor.status === 'beta' && <Tag tone="warn">beta</Tag>}
        </>
      }
      about={
        <>
          {vendor.description}{' '}
          <a href={vendor.website} target="_blank" rel="noreferrer">
            Vendor documentation
          </a>
        </>
      }
      actions={
        <RoleButton needs="editor" onClick={show}>
          Install
        </RoleButton>
      }
    >
      <div className={classes.columns}>
        <section className={`panel ${classes.section}`} aria-label="Mapped events">
          <div className={classes.sectionHead}>
            <Title order={2}>What it maps</Title>
            <Select
              size="xs"
              w={180}
              aria-label="Variant"
              allowDeselect={false}
              value={variant?.key ?? null}
              data={vendor.variants.map(({ key: value, name: label }) => ({ value, label }))}
              onChange={(next) =>
                void navigate({
                  to: '.',
                  search: (old: object) => ({ ...old, variant: next === null || next === 'default' ? undefined : next }),
                  replace: true,
                } as never)
              }
            />
          </div>
          <p className="dim">{variant?.description}</p>
          {events.length === 0 ? (
            <p>Every event is delivered as it is.</p>
          ) : (
            <ul className={classes.events}>
              {global.length > 0 && (
                <li>
                  <Foldable
                    mappings={global}
                    summary={
                      <>
                        <b>Every event</b> <span className="dim">{fields(global.length)}</span>
                      </>
                    }
                  />
                </li>
              )}
              {(all ? events : events.slice(0, FEW)).map(({ event, vendorEvent, mappings }) => (
                <li key={`${event} ${vendorEvent}`}>
                  <Foldable
                    mappings={mappings}
                    summary={
                      <>
                        <b>{event}</b>{' '}
                        {vendorEvent !== event && (
                          <>
                            → <span className="mono">{vendorEvent}</span>{' '}
                          </>
                        )}
                        <span className="dim">{fields(mappings.length)}</span>
                      </>
                    }
                  />
                </li>
              ))}
            </ul>
          )}
          {!all && events.length > FEW && (
            <Button variant="default" mt="sm" onClick={() => setAll(true)}>
              Show all {events.length} events
            </Button>
          )}
          {events.length > 0 && (
            <div className={classes.rest}>
              {(config.defaults?.mappings ?? []).length === 0 ? (
                <>
                  <b>Everything else</b> <span className="dim">{restText(config)}</span>
                </>
              ) : (
                <Foldable
                  mappings={config.defaults?.mappings ?? []}
                  summary={
                    <>
                      <b>Everything else</b>{' '}
                      <span className="dim">
                        {restText(config)}, {fields(config.defaults?.mappings?.length ?? 0)}
                      </span>
                    </>
                  }
                />
              )}
            </div>
          )}
        </section>
        <div className={classes.side}>
          <section className={`panel ${classes.section}`} aria-label="Settings">
            <Title order={2} mb="xs">
              What it needs
            </Title>
            <Table className="flush">
              <Table.Tbody>
                {vendor.config_fields.map(({ key: field, label, required, help_text }) => (
                  <Table.Tr key={field}>
                    <Table.Td>
                      <b>{label}</b> {required && <Tag tone="info">required</Tag>}
                      <div className="dim">{help_text}</div>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
            {vendor.setup_steps.length > 0 && (
              <>
                <Title order={3} mt="sm">
                  Where to find it
                </Title>
                <ol className={classes.steps}>
                  {vendor.setup_steps.map((step) => (
                    <li key={step}>{step}</li>
                  ))}
                </ol>
              </>
            )}
          </section>
          <Samples samples={vendor.sample_requests} />
        </div>
      </div>
      <Modal opened={open} onClose={close} title={`Install ${vendor.name}`} size="lg">
        <Install vendor={vendor} {...(variant === undefined ? {} : { variant: variant.key })} pipeline={pipeline} onDone={close} />
      </Modal>
    </Page>
  );
}

/** So many events of the mapping show without asking. */
const FEW = 24;
const fields = (count: number): string => (count === 0 ? 'no further fields' : `${count} ${count === 1 ? 'field' : 'fields'}`);

/** Made when it is opened: a vendor may map hundreds of fields. */
function Foldable({ summary, mappings }: { summary: ReactNode; mappings: readonly Mapping[] }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {open && <MappingTable mappings={mappings} />}
    </details>
  );
}
function MappingTable({ mappings }: { mappings: readonly Mapping[] }) {
  return (
    <Table withRowBorders={false} verticalSpacing={2}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>From</Table.Th>
          <Table.Th>Transforms</Table.Th>
          <Table.Th>To</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {mappings.map((mapping, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several rows may write the same target
          <Table.Tr key={at}>
            <Table.Td className="mono" style={{ overflowWrap: 'anywhere' }}>
              {sourceText(mapping)}
            </Table.Td>
            <Table.Td>
              {transformNames(mapping).map((name) => (
                <Tag key={name}>{name}</Tag>
              ))}
            </Table.Td>
            <Table.Td className="mono" style={{ overflowWrap: 'anywhere' }}>
              {mapping.target} {mapping.required === true && <Tag tone="info">required</Tag>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** What the vendor would receive, before anything is installed. */
function Samples({ samples }: { samples: Awaited<ReturnType<ReturnType<typeof vendorQuery>['queryFn']>>['sample_requests'] }) {
  const { sample = '0' } = useSearch({ strict: false }) as { sample?: string };
  const navigate = useNavigate();
  if (samples.length === 0) return null;
  const shown = samples[Number(sample)] === undefined ? '0' : sample;
  const show = (next: string | null) =>
    void navigate({
      to: '.',
      search: (old: object) => ({ ...old, sample: next === null || next === '0' ? undefined : next }),
      replace: true,
    } as never);
  return (
    <section className={`panel ${classes.section}`} aria-label="Sample request">
      <Title order={2} mb="xs">
        Sample request
      </Title>
      <Tabs value={shown} onChange={show} keepMounted={false}>
        <Tabs.List>
          {samples.map(({ event }, at) => (
            <Tabs.Tab key={event.event_id} value={String(at)}>
              {event.event ?? event.type}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {samples.map(({ event, requests }, at) => (
          <Tabs.Panel key={event.event_id} value={String(at)} pt="xs">
            <VendorRequests result={{ kind: 'requests', requests: requests as VendorRequest[], warnings: [] }} maxHeight={480} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </section>
  );
}
