package backup

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"feedmesh/config"
)

// A bucket is a target in S3-compatible storage.
type bucket struct {
	client    *minio.Client
	name      string
	prefix    string // of keys, without a slash at its end; may be empty
	temporary string
}

// awsEndpoint is the default endpoint.
const awsEndpoint = "https://s3.amazonaws.com"

// openBucket connects to a bucket, with the keys of the settings or those that AWS's own tools would use.
func openBucket(c config.Backup, name, prefix, temporary string) (*bucket, error) {
	endpoint, err := url.Parse(cmp.Or(string(c.S3Endpoint), awsEndpoint))
	if err != nil {
		return nil, err
	}
	keys := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}})
	if c.S3Key != "" {
		keys = credentials.NewStaticV4(c.S3Key, string(c.S3Secret), "")
	}
	client, err := minio.New(endpoint.Host, &minio.Options{Creds: keys, Secure: endpoint.Scheme == "https", Region: os.Getenv("AWS_REGION")})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", endpoint.Host, err)
	}
	return &bucket{client, name, prefix, temporary}, nil
}

func (b *bucket) key(name string) string { return path.Join(b.prefix, name) }

func (b *bucket) list(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing on an early return
	defer cancel()
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.key(nameStart)}) {
		if o.Err != nil {
			return nil, fmt.Errorf("list bucket %s: %w", b.name, o.Err)
		}
		names = append(names, path.Base(o.Key))
	}
	return names, nil
}

func (b *bucket) workFolder() (string, error) { return b.temporary, nil }

// store sends the file in parts of some megabytes, each with its checksum. The object exists when all have arrived.
func (b *bucket) store(ctx context.Context, file, name string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	sent, err := b.client.PutObject(ctx, b.name, b.key(name), f, stat.Size(), minio.PutObjectOptions{ContentType: "application/vnd.sqlite3", NumThreads: 1})
	if err == nil && sent.Size != stat.Size() {
		err = fmt.Errorf("%d of %d bytes were stored", sent.Size, stat.Size())
	}
	if err != nil {
		return fmt.Errorf("send to bucket %s: %w", b.name, err)
	}
	return nil
}

func (b *bucket) size(ctx context.Context, name string) (int64, error) {
	stat, err := b.client.StatObject(ctx, b.name, b.key(name), minio.StatObjectOptions{})
	return stat.Size, err
}

func (b *bucket) remove(ctx context.Context, name string) error {
	return b.client.RemoveObject(ctx, b.name, b.key(name), minio.RemoveObjectOptions{})
}
