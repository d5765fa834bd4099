package convert

import (
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/session"
)

// Statement translates the relation of a SQL command: a SQL text, or one with relations that it refers to. A text that is no query
// has been run when it returns.
func (c *Converter) Statement(m *connectpb.Relation) (session.SQLResult, error) {
	if s := m.GetSql(); s != nil {
		named, positional, err := c.sqlArgs(s)
		if err != nil {
			return session.SQLResult{}, err
		}
		return c.s.SQL(c.ctx, s.GetQuery(), named, positional)
	}
	n, err := c.Relation(m)
	return session.SQLResult{Plan: n}, err
}
