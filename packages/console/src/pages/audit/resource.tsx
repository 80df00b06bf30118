import { Link } from '@tanstack/react-router';
import type { Entry } from './entry.ts';

/** The id of what was changed; leads to its page where it has one. */
export function Resource({ entry: { resource_type, resource_id: id } }: { entry: Entry }) {
  if (id === null) return null;
  if (resource_type === 'pipeline')
    return (
      <Link to="/pipelines/$pipelineId" params={{ pipelineId: id }}>
        {id}
      </Link>
    );
  if (resource_type === 'template')
    return (
      <Link to="/templates/$templateId" params={{ templateId: id }}>
        {id}
      </Link>
    );
  if (resource_type === 'webhook_source')
    return (
      <Link to="/sources" search={{ selected: id }}>
        {id}
      </Link>
    );
  return id;
}
