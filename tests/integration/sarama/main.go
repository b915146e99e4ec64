// Sends one message as a sarama program with a nil config does, and prints where it was stored.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/IBM/sarama"
)

func main() {
	producer, err := sarama.NewSyncProducer(strings.Split(os.Args[1], ","), nil)
	if err != nil {
		log.Fatalln(err)
	}
	defer producer.Close()
	message := &sarama.ProducerMessage{Topic: "my_topic", Value: sarama.StringEncoder("Hello, Kafka Log!")}
	partition, offset, err := producer.SendMessage(message)
	if err != nil {
		log.Fatalln(err)
	}
	fmt.Printf("partition %d offset %d\n", partition, offset)
}
